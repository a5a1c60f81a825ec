# label: threads
# Long windows of Zstandard, beside the zstd tool.
needs zstd
# The end repeats the beginning, 9 MB back.
noise 100000 >noisy
text 60000 >data
{ cat noisy && for part in {1..27}; do cat data; done && cat noisy; } >far
hemstitch --format zstd --long far
names
zstd -dqc far.zst | cmp - far
hemstitch -dc far.zst | cmp - far
hemstitch -dc --backend reference far.zst | cmp - far
hemstitch -t far.zst
echo "smaller by 300 KB: $(($(stat -c %s far.zst) + 300000 < $(hemstitch --format zstd -c far | wc -c)))"
# The same bytes by any number of threads, and from many files at once; 27 is the default.
for threads in 1 2 8; do hemstitch --format zstd -T$threads --long=27 -c far | cmp - far.zst; done
mkdir tree
cp far tree/a
cp data tree/b
hemstitch -r --format zstd --long tree
cmp tree/a.zst far.zst
hemstitch --format zstd --long -c data | cmp - tree/b.zst
# A pipe has no size to state, and so a header with the whole window.
cat far | hemstitch --format zstd --long=30 -c >wide.zst
zstd -dqc --long=30 wide.zst | cmp - far
zstd -dqc --long=31 wide.zst | cmp - far
hemstitch -dc --long=30 wide.zst | cmp - far
hemstitch -dc --memory 1G wide.zst | cmp - far
hemstitch -l --long=31 wide.zst | awk '{ $3 = ""; $5 = ""; print }'
hemstitch cat --long=30 --range 10000000-10000100 wide.zst | cmp - <(tail -c +10000001 far | head -c 100)
for option in '' --long --long=29 --memory=512M; do status_of hemstitch -t $option wide.zst; done
status_of hemstitch -l wide.zst
# What zstd writes.
for options in --long=27 --long=30 '--long=31 -T2' '-19 --long=28'; do
  zstd -qc $options far | hemstitch -dc --long=31 | cmp - far
  cat far | zstd -qc $options >theirs.zst
  for threads in 1 2; do hemstitch -dc -T$threads --long=31 theirs.zst | cmp - far; done
done
# Levels, small windows, dictionaries, and each frame by itself.
for options in '-19 --long=24' '--fast=3 --long=25' --long=10 '--long=31 -1' '--seekable=1M --long' '--seekable=16M --long=24'; do
  hemstitch --format zstd $options -c far >by.zst
  zstd -dqc --long=31 by.zst | cmp - far
  hemstitch -dc --long=31 by.zst | cmp - far
done
hemstitch --format zstd --long -D data -c far >with.zst
zstd -dqc -D data with.zst | cmp - far
hemstitch -dc -D data with.zst | cmp - far
for empty in '' x; do printf '%s' "$empty" | hemstitch --format zstd --long -c | zstd -dqc | wc -c; done
# What is refused.
status_of hemstitch --long -c data
status_of hemstitch --format zstd --long=32 data
status_of hemstitch --format zstd --long --verify -c data
status_of hemstitch --format zstd --long --memory 100M -c data
