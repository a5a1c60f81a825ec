# label: threads
# Seekable files of Zstandard, beside the zstd and pzstd tools.
needs zstd
text 60000 >data
for part in {1..10}; do cat data; done >large
hemstitch --format zstd --seekable=64K large
zstd -dqc large.zst | cmp - large
hemstitch -dc large.zst | cmp - large
hemstitch -dc --backend reference large.zst | cmp - large
hemstitch -dc <large.zst | cmp - large
cat large.zst | hemstitch -dc | cmp - large
hemstitch -t large.zst
# The same bytes by any number of threads, from a pipe, and from many files at once.
for threads in 1 2 8; do cat large | hemstitch --format zstd -T$threads --seekable=64K -c | cmp - large.zst; done
hemstitch --format zstd --verify --seekable=64K -c large | cmp - large.zst
mkdir tree
cp large tree/a
cp data tree/b
hemstitch -r --format zstd --seekable=64K tree
cmp tree/a.zst large.zst
zstd -dqc tree/b.zst | cmp - data
# 4M is the default. An empty file has a frame, too.
hemstitch --format zstd --seekable -c large | cmp - <(hemstitch --format zstd --seekable=4M -c large)
hemstitch --format zstd --seekable -c </dev/null >empty.zst
zstd -dqc empty.zst | wc -c
hemstitch -dc empty.zst | wc -c
# Lists and ranges.
hemstitch -lv large.zst | awk '{ $3 = ""; $5 = ""; print }'
hemstitch -l --json large.zst | sed 's/"compressed_bytes":[0-9]*/"compressed_bytes":N/g; s/"offset":[0-9]*/"offset":N/g'
hemstitch -dc --range 300000-300100 large.zst | cmp - <(tail -c +300001 large | head -c 100)
hemstitch -dc --range -100 large.zst | cmp - <(tail -c 100 large)
hemstitch -dc --range 131000-132000 - <large.zst | cmp - <(tail -c +131001 large | head -c 1000)
cat large.zst | hemstitch -dc --range 131000-132000 | cmp - <(tail -c +131001 large | head -c 1000)
hemstitch cat --range 65530-65540 large.zst | cmp - <(tail -c +65531 large | head -c 10)
# Damage in one frame is named, and leaves the others.
cp large.zst bad.zst
printf '\377\377\377\377' | dd of=bad.zst bs=1 seek=$(($(stat -c %s bad.zst) / 2)) conv=notrunc status=none
status_of hemstitch -t bad.zst 2>&1 | sed 's/block [0-9]*/block N/; s/byte [0-9]*/byte N/; s/0x[0-9a-f]*/X/g'
hemstitch -dc --range 1000-2000 bad.zst | cmp - <(tail -c +1001 large | head -c 1000)
hemstitch -dc --range -1000 bad.zst | cmp - <(tail -c 1000 large)
# A table that lies is not used.
cp large.zst lying.zst
printf '\377' | dd of=lying.zst bs=1 seek=$(($(stat -c %s lying.zst) - 18)) conv=notrunc status=none
hemstitch -dc lying.zst | cmp - large
hemstitch -dc --range 300000-300100 lying.zst | cmp - <(tail -c +300001 large | head -c 100)
# Frames in a row have no table. Their headers tell as much.
{ zstd -qc data && printf '\x5f\x2a\x4d\x18\4\0\0\0skip' && zstd -qc data && cat large.zst; } >row.zst
hemstitch -dc --range 110000-130000 row.zst | cmp - <(cat data data large | tail -c +110001 | head -c 20000)
hemstitch -dc row.zst | cmp - <(cat data data large)
# Dictionaries.
hemstitch --format zstd --seekable=64K -D data -c large >with.zst
zstd -dqc -D data with.zst | cmp - large
hemstitch -dc -D data with.zst | cmp - large
# What is refused.
status_of hemstitch --seekable -c data
status_of hemstitch --format zstd --seekable=10 -c data
status_of hemstitch --format zstd --seekable -B1M -c data
