[[ -w /dev/full ]] || { echo 'skipped: no /dev/full here'; exit 77; }
text 100000 >data
hemstitch data
hemstitch -dc data.lz4 >/dev/full; echo "exit $?"
hemstitch -c data >/dev/full; echo "exit $?"
hemstitch -h >/dev/full; echo "exit $?"
hemstitch -V >/dev/full; echo "exit $?"
hemstitch -l data.lz4 >/dev/full; echo "exit $?"
hemstitch search 9 data >/dev/full; echo "exit $?"
hemstitch data -o /dev/full; echo "exit $?"
# A limit on the size of files stands for a full disk with a name: nothing remains. It must not spoil counts of lines.
(ulimit -f 8; GCOV_PREFIX=/dev/null hemstitch -d data.lz4 -o limited; echo "exit $?")
names
