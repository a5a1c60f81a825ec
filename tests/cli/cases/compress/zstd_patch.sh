# label: threads
# A file and what became of it: patches of the zstd tool, and those that it reads.
needs zstd
noise 950000 >old
{ tail -c 2500000 old && noise 100 && head -c 3000000 old && tail -c 1000000 old; } >new
zstd -qc --patch-from=old new >theirs.zst 2>/dev/null
zstd -qc --long=24 --patch-from=old --stream-size="$(stat -c %s new)" <new >streamed.zst 2>/dev/null
for threads in 1 3; do
  for file in theirs streamed; do hemstitch -dc -T$threads -D old $file.zst | cmp - new; done
done
hemstitch --format zstd --long=24 -D old -c new >patch.zst
hemstitch --format zstd -D old -c new >first.zst
for file in patch first; do
  zstd -dqc --patch-from=old $file.zst | cmp - new
  hemstitch -dc -D old $file.zst | cmp - new
done
echo "small: $(($(stat -c %s patch.zst) < 10000)), the first 4 MB: $(($(stat -c %s first.zst) < 2600000))"
# The same bytes by any number of threads.
for threads in 1 2 8; do hemstitch --format zstd -T$threads --long=24 -D old -c new | cmp - patch.zst; done
# What it takes, and the wrong file.
status_of hemstitch -dc -D old --memory 9M patch.zst
status_of hemstitch --format zstd -D old --memory 9M -c new
hemstitch -dc -D old --memory 40M patch.zst | cmp - new
status_of hemstitch -t -D new patch.zst 2>/dev/null
# Of a pipe: all of it where the format is known before.
hemstitch -dc --format zstd -D <(cat old) patch.zst | cmp - new
