# label: threads
# Zstandard, by --format or the suffix of -o, beside the zstd tool.
needs zstd
text 60000 >data
hemstitch --format zstd data
names
zstd -dqc data.zst | cmp - data
hemstitch -dc data.zst | cmp - data
# The suffix says the format.
hemstitch data -o by_name.zst
same data.zst by_name.zst
hemstitch data -o by_name.tzst
same data.zst by_name.tzst
tar -cf some.tar data
hemstitch some.tar -o some.tzst
rm some.tar
hemstitch -d some.tzst
tar -tf some.tar
status_of hemstitch --format zstd data.zst
# Levels; 3 is the default. --fast=N is level -N.
hemstitch --format zstd -3 -c data | cmp - data.zst
hemstitch --format zstd -c <data | zstd -dqc | cmp - data
for level in -1 -12 -22 --best --fast --fast=7 --level=-5; do hemstitch --format zstd $level -c data | zstd -dqc | cmp - data; done
status_of hemstitch --format zstd --fast=8 data
status_of hemstitch --format zstd -23 data
status_of hemstitch -13 data
# What zstd writes.
for options in -1 -19 '--ultra -22' --fast=5 --no-check --long=27 '-T2 -B256K' --rsyncable --adapt --no-content-size --zstd=wlog=10; do
  zstd -qc $options data >theirs.zst
  hemstitch -dc theirs.zst | cmp - data
  hemstitch -dc --backend reference theirs.zst | cmp - data
  zstd -qc $options <data | hemstitch -dc | cmp - data
done
# Many frames, each behind a skippable one.
if [[ -n $(command -v pzstd) ]]; then pzstd -qc -p 2 data | hemstitch -dc | cmp - data; fi
hemstitch -t theirs.zst data.zst
hemstitch cat theirs.zst data.zst | cmp - <(cat data data)
# The same bytes by any number of threads; several parts.
for part in {1..20}; do cat data; done >large
hemstitch --format zstd -T1 -B1M -c large >one
for threads in 2 8; do hemstitch --format zstd -T$threads -B1M -c large | cmp - one; done
hemstitch --format zstd --verify -T2 -B1M -c large | cmp - one
zstd -dqc one | cmp - large
hemstitch -dc --range 5999000-5999100 one | cmp - <(tail -c +5999001 large | head -c 100)
# One frame by several threads, from a file and from a pipe, and cut off.
noise 150000 >noisy
zstd -qc noisy >noisy.zst
for threads in 1 2 8; do
  hemstitch -dc -T$threads noisy.zst | cmp - noisy
  zstd -qc <noisy | hemstitch -dc -T$threads | cmp - noisy
  { zstd -qc <noisy && cat noisy.zst data.zst; } | hemstitch -dc -T$threads | cmp - <(cat noisy noisy data)
  hemstitch -dc -T$threads --range 1000000-1000010 noisy.zst | cmp - <(tail -c +1000001 noisy | head -c 10)
done
head -c 600000 noisy.zst | status_of hemstitch -t -T8 2>&1 | sed 's/byte [0-9]*/byte N/'
# Damage in it: the place, and the content before it, are those of one thread.
{ printf '\x28\xb5\x2f\xfd\0\x50' && for block in {1..12}; do printf '\0\0\10' && head -c 65536 noisy; done && printf '\6\0\0'; } >damaged.zst
for threads in 1 8; do
  status_of hemstitch -t -T$threads damaged.zst
  hemstitch -dc -T$threads damaged.zst 2>/dev/null | wc -c
done
# Frames in a row, skippable and empty ones.
{ cat data.zst && printf '\x5f\x2a\x4d\x18\4\0\0\0skip' && zstd -qc </dev/null && cat theirs.zst; } >row
hemstitch -dc row | cmp - <(cat data data)
hemstitch -lv row | awk '{ $3 = ""; $5 = ""; print }'
hemstitch -l --json row | sed 's/"compressed_bytes":[0-9]*/"compressed_bytes":N/g; s/"offset":[0-9]*/"offset":N/g'
# Dictionaries.
for sample in {1..200}; do seq "$sample" $((sample + 60)) >sample.$sample; done
zstd -q --train sample.* --maxdict=4096 -o trained 2>/dev/null
rm -f sample.*
head -c 5000 data >raw
for dictionary in trained raw; do
  hemstitch --format zstd -D $dictionary -c data | zstd -dqc -D $dictionary | cmp - data
  zstd -qc -D $dictionary data | hemstitch -dc -D $dictionary | cmp - data
done
zstd -qc -D trained data >needs.zst
status_of hemstitch -dc needs.zst 2>&1 | sed 's/0x[0-9a-f]*/ID/g'
status_of hemstitch -dc -D raw needs.zst 2>&1 | sed 's/0x[0-9a-f]*/ID/g'
# Windows.
zstd -qc --long=28 --no-content-size <data >wide.zst
status_of hemstitch -t wide.zst
hemstitch -t --memory 300M wide.zst
# Damage.
head -c 100 data.zst | status_of hemstitch -t
{ cat data.zst && echo more; } | status_of hemstitch -t 2>&1 | sed 's/byte [0-9]*/byte N/'
{ cat data.zst && printf '\x28\xb5'; } | status_of hemstitch -t 2>&1 | sed 's/byte [0-9]*/byte N/'
printf '\x25\xb5\x2f\xfd' | status_of hemstitch -t
# The bytes of every machine, in two parts: the twins are slow.
head -c 1300000 large >shorter
hemstitch --format zstd --reproducible -T2 -B1M -c shorter >reproducible
zstd -dqc reproducible | cmp - shorter
hemstitch --format zstd --backend reference -T1 -B1M -c shorter | cmp - reproducible
status_of hemstitch --format zstd --reproducible --long -c data
# Folders.
mkdir -p tree/in
cp data tree/in/a
: >tree/in/b
hemstitch -r --format zstd tree
find tree -type f | sort
zstd -dqc tree/in/a.zst | cmp - data
hemstitch -dr --format zstd -f tree
