# Legacy frames of LZ4, beside the lz4 tool.
needs lz4
text 1200000 | head -c 8388609 >data # a byte more than a block of 8 MB
head -c 8388608 data >full
noise 20000 >other
: >empty
printf x >one
check() { # FILE LEVEL
  hemstitch --legacy "-$2" -c "$1" >ours.lz4
  lz4 -dqc ours.lz4 | cmp - "$1"
  hemstitch -dc ours.lz4 | cmp - "$1"
  lz4 -lqc "-$2" "$1" | cmp - ours.lz4
  hemstitch --legacy "-${2}T1" <"$1" | cmp - ours.lz4
}
for file in data full other empty one; do check $file 1; done
for file in other empty one; do check $file 9; done
# Content that does not shrink has no other form here, and grows.
head -c 8500000 /dev/urandom >random
hemstitch --legacy --verify -c random >ours.lz4
lz4 -dqc ours.lz4 | cmp - random
hemstitch --legacy data
hemstitch -l data.lz4 | awk '{ print $2, $NF }' | head -n 2
cat data.lz4 <(hemstitch --legacy -c other) <(hemstitch -c other) | hemstitch -d | cmp - <(cat data other other)
mkdir tree
cp other one tree
hemstitch -r --legacy tree
hemstitch --legacy -c other | cmp - tree/other.lz4
for options in -B4 --linked --check --check=content '-D other' '--format gzip' --reproducible '--backend reference'; do
  # shellcheck disable=SC2086
  status_of hemstitch --legacy $options -c data
done
