# label: threads
# Indexes of ordinary Zstandard files, by which --range begins in the middle.
needs zstd
# So much that even level 1 gives a point in the middle. With small windows a third has many, which is enough for threads to meet.
parts=120
if [[ ${HEMSTITCH_SANITIZE-} == thread ]]; then parts=40; fi
for ((i = 0; i < parts; ++i)); do text 60000 | sed "s/e/$i/g"; done >data
for options in -1 -3 '-3 --no-check' '-3 --zstd=wlog=15 --no-content-size'; do
  zstd -qc $options <data >file.zst
  hemstitch index -f file.zst
  [[ $(stat -c %s file.zst.zstidx) -le $(($(stat -c %s file.zst) * 3 / 100 + 200)) ]] || echo "$options: the index is large"
  size=$(stat -c %s data)
  for range in 0-10 1000000-2000000 $((size / 2))-$((size / 2 + 100)) $((size - 5))- -1000; do
    hemstitch -dc --range "$range" file.zst | cmp - <(cat file.zst | hemstitch -dc --range "$range")
  done
done
names
status_of hemstitch index file.zst
# The same with -d.
rm file.zst.zstidx
hemstitch -d --index -f -o restored file.zst
cmp restored data
ls file.zst.zstidx
# One of another file, a damaged one, and an old one are not used.
cp file.zst other.zst
printf x >>other.zst
cp file.zst.zstidx other.zst.zstidx
status_of hemstitch -dc --range 3000000-3000010 other.zst 2>&1 | tail -1
printf '\377' | dd of=file.zst.zstidx bs=1 seek=50 conv=notrunc status=none
hemstitch -dc --range 3000000-3000010 file.zst 2>warning | cmp - <(tail -c +3000001 data | head -c 10)
cat warning
hemstitch index -f file.zst
touch -d '2 days ago' file.zst.zstidx
hemstitch -dc --range 3000000-3000010 file.zst 2>warning | cmp - <(tail -c +3000001 data | head -c 10)
cat warning
# Seekable files need none.
hemstitch --format zstd --seekable=1M data -o seekable.zst
status_of hemstitch index seekable.zst 2>&1 | sed 's/byte [0-9]*/byte N/'
names seekable*
