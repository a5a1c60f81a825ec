# What changes between reading and removing is kept, and so is every line that somebody adds.
needs_watching
make_tree() {
  rm -rf tree other
  mkdir tree
  text 1000 >tree/a
  text 1001 >tree/b
  text 1000 | tr 0 1 >other
  touch -r tree/a other
}
show() {
  status_of "$@"
  names
  if [[ -f tree/a ]]; then sha256sum tree/a | cut -c 1-16; fi
}
change() {
  echo "== $1"
  make_tree
  # One file: when its output goes to the disk. A batch: when all outputs do.
  HEMSTITCH_WATCH_AT="fsync $1" show watched hemstitch --rm tree/a
  make_tree
  HEMSTITCH_WATCH_AT="syncfs $1" show watched hemstitch -r --rm -T1 tree
}
change 'echo more >>tree/a'
change 'cat other >tree/a'
change 'mv other tree/a'
change 'cat other >tree/a && touch -r other tree/a'
change 'ln tree/a second && rm -f second'
change 'chmod 600 tree/a'
change 'rm tree/a && ln -s ../other tree/a'
change 'rm tree/a && mkfifo tree/a'
change 'rm tree/a'

echo '== the way back'
make_tree
hemstitch -rq --rm tree
cp tree/a.lz4 other
HEMSTITCH_WATCH_AT='syncfs cat other >>tree/a.lz4' show watched hemstitch -dr --rm -T1 tree
rm tree/a
HEMSTITCH_WATCH_AT='fsync cat other >>tree/a.lz4' show watched hemstitch -d --rm tree/a.lz4

echo '== somebody comes to write when the file is about to go'
make_tree
HEMSTITCH_WATCH_AT='renameat2 (echo more >>tree/a &) ; sleep 0.3' show watched hemstitch -r --rm -T1 tree
sleep 0.3
tail -n 1 tree/a
echo '== and when it has no name any more'
make_tree
HEMSTITCH_WATCH_AT='unlinkat echo more >>tree/a' show watched hemstitch -r --rm -T1 tree

echo '== file systems without leases, and those that refuse them for reasons of their own'
make_tree
HEMSTITCH_WATCH_FAIL='lease 22' show watched hemstitch --rm tree/b
HEMSTITCH_WATCH_FAIL='lease 22' HEMSTITCH_WATCH_AT='fsync echo more >>tree/a' show watched hemstitch --rm tree/a
make_tree
HEMSTITCH_WATCH_FAIL='lease 11' show watched hemstitch --rm tree/b
rm tree/b.lz4
HEMSTITCH_WATCH_FAIL='lease 11' HEMSTITCH_WATCH_FILE_SYSTEM=6969 show watched hemstitch --rm tree/b

echo '== what cannot be removed has its name again'
make_tree
HEMSTITCH_WATCH_FAIL='unlinkat 1' show watched hemstitch --rm tree/a
rm tree/a.lz4
HEMSTITCH_WATCH_FAIL='unlinkat 1' HEMSTITCH_WATCH_AT='unlinkat echo new >tree/a' show watched hemstitch --rm tree/a

echo '== times in whole seconds: a change within the second in which the file was read'
make_tree
while [[ $(date +%1N) != [01] ]]; do sleep 0.01; done
text 1000 >tree/a
HEMSTITCH_WATCH_SECONDS=1 HEMSTITCH_WATCH_AT='fsync cat other >tree/a' show watched hemstitch --rm tree/a
