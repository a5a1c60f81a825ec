# Level 0: the content as it is, in frames that every tool reads.
needs lz4 gzip zstd
text 200000 >data
noise 20000 >other
: >empty
printf x >one
read_with() { # FORMAT
  case $1 in lz4) lz4 -dqc ;; gzip | bgzf) gzip -dc ;; zstd) zstd -dqc ;; esac
}
for format in lz4 gzip bgzf zstd; do
  for file in data other empty one; do
    hemstitch -0 --format $format -c $file >stored
    read_with $format <stored | cmp - $file
    hemstitch -dc --backend reference stored | cmp - $file
    hemstitch -0T1 --format $format <$file | read_with $format | cmp - $file
    bytes=$(stat -c %s $file) more=$(($(stat -c %s stored) - $(stat -c %s $file)))
    ((more >= 0 && more < 100 + bytes / 1000)) || echo "$format $file: $more more bytes"
  done
done
for options in '--format zlib' '--format deflate' '--format zstd --seekable=64K' '--format zstd -B1M' '-B4 --linked --check=content' '-D other'; do
  # shellcheck disable=SC2086
  hemstitch $options -0 -o stored data -f
  # shellcheck disable=SC2086
  hemstitch -dc $([[ $options != *-D* ]] || echo '-D other') ${options%% -[B]*} stored 2>&1 | cmp - data
done
# The last of several levels counts, and many files at once give the same bytes.
hemstitch -9 -0 --format gzip -c data | cmp - <(hemstitch --level 0 --format gzip -c data)
hemstitch -09 -c data | cmp - <(hemstitch -9 -c data)
mkdir tree
cp data other empty one tree
hemstitch -r0 --format zstd tree
for file in data other empty one; do hemstitch -0 --format zstd -c $file | cmp - tree/$file.zst; done
# The processor's work, whatever the environment says.
HEMSTITCH_BACKEND=reference hemstitch -0v -c data 2>&1 >stored | grep -c 'cpu'
lz4 -dqc stored | cmp - data
for options in --rsyncable --legacy --reproducible '--backend reference' '--long --format zstd'; do
  # shellcheck disable=SC2086
  status_of hemstitch -0 $options -c data
done
status_of hemstitch bench -0 data
HEMSTITCH_LEVEL=0 status_of hemstitch -c data
