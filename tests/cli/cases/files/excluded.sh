# --include, --exclude and --exclude-dir choose by name, in folders and among the files that are named.
make_tree() {
  rm -rf top
  mkdir -p top/.git top/src/deep
  for file in a.log a.txt .git/b.log src/c.log src/d.jpg src/deep/e.txt; do echo $file >top/$file; done
}
made() {
  make_tree
  echo "== $*"
  status_of hemstitch "$@"
  find . -name '*.lz4' | sort
}
made -r --exclude '*.jpg' --exclude '*.txt' top
made -r --include '*.log' top
made -r --exclude '*' --include '*.log' top
made -r --exclude-dir .git --exclude-dir 'd*' top
made -r --exclude-dir 'src/' top
made -r --exclude top/a.log top
made -r --exclude-dir top top
made --exclude '*.jpg' top/a.log top/src/d.jpg
made --exclude '*.jpg' top/src/d.jpg
made -r --exclude a.log top/a.log top
echo '== what an earlier run made is known, although its name is excluded'
make_tree
hemstitch -rq top
hemstitch -r --exclude '*.lz4' top
echo '== the way back, testing, listing, and cat'
rm top/src/deep/e.txt
status_of hemstitch -dr --include 'e*' top
hemstitch -tr --exclude '[a-d]*' top
hemstitch -lr --include 'a.*' top | awk '{ print $NF }'
hemstitch cat -r --include 'a.*' top
echo left | hemstitch --exclude '*' | hemstitch -d --exclude '*'
