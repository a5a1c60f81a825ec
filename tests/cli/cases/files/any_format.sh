# -dr restores files of one format, .lz4 unless --format names another; --format any takes those of all.
needs gzip
make_tree() {
  rm -rf top
  mkdir top
  echo a | hemstitch >top/a.lz4
  echo b | gzip -n >top/b.GZ
  echo c | gzip -n >top/c.tgz
  echo d | hemstitch --format zlib >top/d.zz
  echo e | hemstitch --format bgzf >top/e.bgz
  echo f >top/f.txt
}
shown() { (cd top && grep -s . -- *.tar [a-f] ; ls | tr '\n' ' '; echo); }
make_tree
hemstitch -dr top
shown
make_tree
hemstitch -dr --format gzip top
shown
make_tree
hemstitch -dr --rm --format any top
shown
make_tree
hemstitch -tr --format any top
hemstitch -lr --format any top | awk '{ print $NF }'
hemstitch cat -r --format any -q top
hemstitch -d --format any top/a.lz4
echo '== by its content, not by its name'
make_tree
echo g | gzip -n >top/g.lz4
status_of hemstitch -dr --format any top/g.lz4
cat top/g
echo '== two files with one output: the first is taken, whatever is forced'
make_tree
echo a2 | gzip -n >top/a.gz
status_of hemstitch -drf --rm --format any top
shown
make_tree
echo a2 | gzip -n >top/a.gz
status_of hemstitch -df --rm top/a.lz4 ./top/a.gz
shown
status_of hemstitch --format any top/f.txt
