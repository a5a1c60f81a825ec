# Files through WebGPU, both ways, where there is an adapter, be it software.
export NODEVICE_SELECT=1
if ! hemstitch backends | grep -q '^webgpu  *usable'; then
  echo 'skipped: no WebGPU adapter here'
  exit 77
fi
needs lz4
text 60000 >data
for options in '-1 -B64K' '-3 -B64K --linked' '-12 -B256K'; do
  # shellcheck disable=SC2086
  hemstitch -f --backend webgpu $options data -o gpu.lz4
  # shellcheck disable=SC2086
  hemstitch -f --backend reference $options data -o twin.lz4
  same gpu.lz4 twin.lz4
  lz4 -dqc gpu.lz4 | cmp - data
  hemstitch -dc --backend webgpu gpu.lz4 | cmp - data
done
# Linked blocks, and blocks that were stored.
{ cat data; head -c 70000 /dev/urandom; } >plain
for options in -B4 '-B4D -9'; do
  # shellcheck disable=SC2086
  lz4 -qc $options plain | hemstitch -d --backend webgpu | cmp - plain
done
hemstitch -dc --backend webgpu --range 100000-100050 gpu.lz4 | cmp - <(tail -c +100001 data | head -c 50)
# More batches than slots.
text 700000 >many
hemstitch -c --backend webgpu -1 -B64K many | tee many.lz4 | lz4 -dqc | cmp - many
hemstitch -dc --backend webgpu many.lz4 | cmp - many
# DEFLATE is compressed there, and restored where it was made; a stream that comes in a file is the processor's, which is told.
for options in '--format gzip -1' '--format bgzf -3' '--format zlib -6' '--format deflate -9'; do
  # shellcheck disable=SC2086
  hemstitch -f --backend webgpu --verify $options plain -o gpu.deflate
  # shellcheck disable=SC2086
  hemstitch -f --backend reference $options plain -o twin.deflate
  same gpu.deflate twin.deflate
done
hemstitch -c --backend webgpu --format gzip plain | gzip -dc | cmp - plain
hemstitch -c --backend webgpu --format gzip </dev/null | gzip -dc | cmp - /dev/null
# BGZF is restored there: what we wrote, what is damaged, and a range.
hemstitch -f --backend webgpu --format bgzf --verify -6 plain -o gpu.gz
hemstitch -dc --backend webgpu gpu.gz | cmp - plain
hemstitch -dc --backend webgpu --format bgzf --range 100000-100050 gpu.gz | cmp - <(tail -c +100001 plain | head -c 50)
{ head -c 20000 gpu.gz; printf 'damaged'; tail -c +20008 gpu.gz; } >broken.gz
status_of hemstitch -t --backend webgpu broken.gz
hemstitch -c --format gzip plain >stream.gz
hemstitch -dc --backend webgpu stream.gz 2>told | cmp - plain
grep -o "backend 'webgpu' cannot restore gzip" told
# More than a block.
cat many many >blocks
hemstitch -f --backend webgpu --format gzip -1 blocks -o gpu.deflate
hemstitch -f --backend reference --format gzip -1 blocks -o twin.deflate
same gpu.deflate twin.deflate
# What a backend does not restore, the processor restores for bench.
hemstitch bench --json --backend webgpu --format gzip -1 --seconds 0.01 plain | grep -oE '"(backend|what)": "[a-z]+"' | sort | uniq -c
# A tree of small files, many at a time, and one that is larger than that.
mkdir tree
for number in $(seq 150); do text $((number * 7)) >"tree/$number"; done
: >tree/nothing
cp many tree/large
cp -r tree alone
hemstitch -rq --backend webgpu -1 -B64K tree
for file in alone/*; do hemstitch -q --backend reference -1 -B64K "$file"; done
diff -r alone tree && echo "the same: $(find tree -name '*.lz4' | wc -l) files"
find tree -type f ! -name '*.lz4' -delete
hemstitch -drq --rm --backend webgpu tree
find alone -name '*.lz4' -delete
diff -r alone tree && echo 'and back'
# A tree of short .gz: BGZF, members with a name, one that is damaged and one that is too long for a batch.
rm alone/large
hemstitch -rq --format gzip alone
find alone -type f ! -name '*.gz' -delete
head -c 1500 /dev/urandom | gzip -c >alone/noise.gz
head -c 300000 data | hemstitch -c --format bgzf >alone/blocks.gz
{ text 40; } >alone/named && gzip -N alone/named
gzip -c many >alone/long.gz
cp -r alone members
{ head -c 700 alone/noise.gz; printf 'damaged'; tail -c +708 alone/noise.gz; } >alone/broken.gz
hemstitch -drq --rm --format gzip --backend webgpu alone 2>told || echo "exit $?"
sed 's/: frame.*//' told
rm alone/broken.gz
hemstitch -drq --rm --format gzip --backend cpu members
diff -r alone members && echo 'and from gzip'
# Zstandard is restored there: files whose frames' places are known, and trees of short files; others are the processor's.
hemstitch -qf --format zstd --seekable=64K plain -o gpu.zst
hemstitch -dc --backend webgpu gpu.zst | cmp - plain
{ head -c 20000 gpu.zst; printf 'damaged'; tail -c +20008 gpu.zst; } >broken.zst
status_of hemstitch -t --backend webgpu broken.zst
hemstitch -qc --format zstd plain >one.zst
hemstitch -dc --backend webgpu one.zst 2>told | cmp - plain
grep -o "backend 'webgpu' cannot restore Zstandard" told
status_of hemstitch -c --backend webgpu --format zstd plain 2>&1 | grep -o "backend 'webgpu' does not compress to Zstandard"
mkdir frames
for number in $(seq 40); do text $((number * 7)) >"frames/$number"; done
: >frames/nothing
cp plain many frames
cp -r frames contents
hemstitch -rq --rm --format zstd --backend cpu frames
hemstitch -drq --rm --format zstd --backend webgpu frames
diff -r contents frames && echo 'and from Zstandard'
head -c 50000 gpu.lz4 >cut.lz4
status_of hemstitch -t --backend webgpu cut.lz4
status_of hemstitch -c --backend webgpu --device 'no such GPU' data 2>&1 | sed 's/; this machine has .*//'
# The option wins over the user's own default; of a list, the first that is there is taken.
export HEMSTITCH_DEVICE='no such GPU'
hemstitch -c -12 -B256K --backend webgpu --device 77,0 data | cmp - gpu.lz4 && echo 'of a list'
status_of hemstitch -c --backend webgpu data 2>&1 | sed 's/; this machine has .*//'
hemstitch -qc --backend cpu data | lz4 -dqc | cmp - data && echo 'which cpu passes over'
unset HEMSTITCH_DEVICE
HEMSTITCH_WEBGPU_LIBRARY=/none hemstitch backends | grep -A 1 '^webgpu' | sed -E 's/^ +wgpu-native could not be loaded: .*; install/install/'
# A tool that PATH finds does not look for libraries in the current folder.
mkdir lib
echo 'not a library' | tee libwgpu_native.so >lib/libwgpu_native.so
env -u HEMSTITCH_WEBGPU_LIBRARY LD_DEBUG=files hemstitch backends 2>&1 | grep -c 'file=lib/libwgpu_native.so' || true
