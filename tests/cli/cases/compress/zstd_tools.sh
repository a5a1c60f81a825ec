# label: threads
# Larger files of zstd's other ways to write, and of pzstd, both ways.
needs zstd
noise 400000 >noisy
{ cat noisy && text 200000 && head -c 1000000 noisy; } >data
ways=(--adapt '--adapt=min=1,max=5 -T2' '--rsyncable -T2' '--rsyncable -19' '-T4 -B512K' "--stream-size=$(stat -c %s data)" --no-check)
processes=(1 2 4)
# For threads to meet, a few are enough.
if [[ ${HEMSTITCH_SANITIZE-} == thread ]]; then ways=('--rsyncable -19' '-T4 -B512K') processes=(2); fi
for options in "${ways[@]}"; do
  # shellcheck disable=SC2086
  zstd -qc $options <data >theirs.zst
  for threads in 1 2; do hemstitch -dc -T$threads theirs.zst | cmp - data; done
  hemstitch -t theirs.zst
  hemstitch -dc --range 5000000-5000100 theirs.zst | cmp - <(tail -c +5000001 data | head -c 100)
done
hemstitch --format zstd data -o ours.zst
hemstitch --format zstd --seekable=1M data -o seekable.zst
needs pzstd
for threads in "${processes[@]}"; do
  pzstd -qc -p $threads data >theirs.zst
  for ours in 1 2 8; do hemstitch -dc -T$ours theirs.zst | cmp - data; done
  hemstitch -dc <theirs.zst | cmp - data
  hemstitch -dc --range 5000000-5000100 theirs.zst | cmp - <(tail -c +5000001 data | head -c 100)
  for file in ours seekable; do pzstd -dqc -p $threads $file.zst | cmp - data; done
done
