# label: threads
# Parts that end where the content says so: a change in the content changes the parts around it alone.
needs gzip zstd python3
# Most of it is like no other part, so that each cut has a place of its own.
noise 900000 >data
head -c 3000000 data >changed
printf 'an insertion' >>changed
tail -c +3000001 data >>changed
# How many bytes differ between the same beginning and the same end, without checksum and size at the end.
cat >differ.py <<'X'
import os, sys
one, other = (open(name, "rb").read()[:-16] for name in sys.argv[1:])
same = len(os.path.commonprefix([one, other])) + len(os.path.commonprefix([one[::-1], other[::-1]]))
print(max(len(one), len(other)) - same)
X
for format in gzip zstd; do
  for file in data changed; do
    hemstitch --rsyncable --format $format -c $file >$file.$format
    # For threads to meet, one of the files is enough.
    if [[ ${HEMSTITCH_SANITIZE-} == thread && $file == changed ]]; then continue; fi
    $format -dc <$file.$format | cmp - $file
    hemstitch -dc $file.$format | cmp - $file
    hemstitch -dc --backend reference $file.$format | cmp - $file
    for threads in 1 8; do hemstitch --rsyncable --format $format -T$threads <$file | hemstitch -dc | cmp - $file; done
    hemstitch --rsyncable --format $format -T1 -c $file | cmp - $file.$format
  done
  differ=$(python3 differ.py data.$format changed.$format)
  usual=$(python3 differ.py <(hemstitch --format $format -c data) <(hemstitch --format $format -c changed))
  size=$(stat -c %s data.$format)
  echo "$format: less than a third changes: $((differ < size / 3)), usually more than a half: $((usual > size / 2))"
done
# Content without any cut of the hash has cuts all the same, and short content none.
head -c 5000000 /dev/zero >zeros
: >empty
printf x >one
head -c 20000 data >short
for file in zeros empty one short; do
  for format in gzip zstd zlib deflate; do
    hemstitch --rsyncable --format $format -9 -c $file | hemstitch -dc --format $format | cmp - $file
  done
  hemstitch --rsyncable --format gzip -c $file | gzip -dc | cmp - $file
  hemstitch --rsyncable --format zstd -c $file | zstd -dqc | cmp - $file
done
mkdir tree
cp short one empty tree
hemstitch -r --rsyncable --format gzip tree
hemstitch --rsyncable --format gzip -c short | cmp - tree/short.gz
# Ranges, by an index as of any other file.
hemstitch --rsyncable --format gzip --index data -f
hemstitch -dc --range 6000000-6000100 data.gz | cmp - <(tail -c +6000001 data | head -c 100)
for options in '' '--format bgzf' '--format zlib -D one' '--format zstd --long' '--format zstd --seekable' '--format gzip --verify' '--format gzip --backend reference'; do
  # shellcheck disable=SC2086
  status_of hemstitch --rsyncable $options -c data
done
