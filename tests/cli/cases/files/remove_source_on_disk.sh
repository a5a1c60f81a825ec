# Outputs are on the disk before their sources go.
needs_watching
export HEMSTITCH_WATCH_LOG=$PWD/log
make_tree() {
  rm -rf tree log
  mkdir -p tree/sub
  for name in a b sub/c; do echo $name >tree/$name; done
}
show() {
  status_of watched "$@"
  cat "$HEMSTITCH_WATCH_LOG"
  rm "$HEMSTITCH_WATCH_LOG"
  (cd tree && names)
}
echo '== one file'
make_tree
show hemstitch --rm tree/a
show hemstitch -d --rm tree/a.lz4
echo '== a batch'
make_tree
show hemstitch -r --rm -T1 tree
show hemstitch -dr --rm -T1 tree
echo '== without'
make_tree
show hemstitch -r tree -T1
make_tree
show hemstitch -r --rm --no-sync -T1 tree
make_tree
show hemstitch --rm --no-sync tree/a
echo '== a file system that does not tell of failures'
make_tree
HEMSTITCH_WATCH_FILE_SYSTEM=65735546 show hemstitch -r --rm -T1 tree
echo '== done before'
make_tree
hemstitch -r tree
show hemstitch -r --rm -T1 tree
make_tree
hemstitch -r tree
HEMSTITCH_WATCH_FILE_SYSTEM=65735546 show hemstitch -r --rm -T1 tree
echo '== in another folder, which is made'
make_tree
show hemstitch -r --rm -T1 --output-dir out tree
names
rm -r out
make_tree
HEMSTITCH_WATCH_FILE_SYSTEM=65735546 show hemstitch -r --rm -T1 --output-dir out tree
rm -r out
make_tree
mkdir out
show hemstitch --rm --output-dir out tree/a
rm -r out
make_tree
HEMSTITCH_WATCH_FAIL='syncfs 5' show hemstitch -r --rm -T1 --output-dir out tree
names
rm -r out
echo '== a disk that fails'
make_tree
HEMSTITCH_WATCH_FAIL='fsync 5' show hemstitch --rm tree/a
make_tree
HEMSTITCH_WATCH_FAIL='syncfs 5' show hemstitch -r --rm -T1 tree
make_tree
hemstitch -r tree
HEMSTITCH_WATCH_FAIL='syncfs 5' show hemstitch -r --rm -T1 tree
