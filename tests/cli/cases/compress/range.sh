text 300000 >data
hemstitch -B64K data
hemstitch -B64K --linked data -o linked.lz4
cut() { tail -c +$(($1 + 1)) data | head -c $(($2 - $1)); }
for range in 0-1 0-0 65535-65537 65536-131072 100000-900000 1988894-1988895 1988890-5M; do
  for file in data.lz4 linked.lz4; do
    hemstitch -dc --range $range $file | cmp - <(cut ${range%-*} "$(numfmt --from=iec ${range#*-})")
  done
done
cat data.lz4 | hemstitch -dc --range 1K-2K | cmp - <(cut 1024 2048)
cat data.lz4 data.lz4 >twice.lz4
hemstitch -d --range 1988894-1988897 twice.lz4 -o part
cmp part <(tail -c 1 data; head -c 2 data)
status_of hemstitch -dc --range 2M-3M data.lz4
# Open ends: from a byte on, and the last so many bytes, also where the size stands in no header and in a pipe.
hemstitch -B64K <data >unsized.lz4
for file in data.lz4 linked.lz4 unsized.lz4; do
  for from in 0 65536 1988890 1988895; do
    hemstitch -dc --range $from- $file | cmp - <(tail -c +$((from + 1)) data)
    cat $file | hemstitch -dc --range=$from- | cmp - <(tail -c +$((from + 1)) data)
  done
  for last in 0 1 100000 1M 5M; do
    hemstitch -dc --range -$last $file | cmp - <(tail -c "$last" data)
    hemstitch -dc --range=-$last <$file | cmp - <(tail -c "$last" data)
    cat $file | hemstitch -dc --range -$last | cmp - <(tail -c "$last" data)
  done
done
hemstitch -d --range -3 twice.lz4 -o part -f
cat part
# What a pipe's end takes in memory is bounded.
status_of hemstitch -dc --range -65M < <(cat data.lz4)
status_of hemstitch -dc --memory 8M --range -8M < <(cat data.lz4)
status_of hemstitch -dc --memory 8200K --range -8M < <(cat data.lz4)
hemstitch -dc --memory 16M --range -8M < <(cat data.lz4) | cmp - data
hemstitch -dc --memory 16M --range -8M data.lz4 | cmp - data
# Blocks outside the range are not restored: damage there does not show.
printf '\xff\xff\xff\xff' | dd of=data.lz4 bs=1 seek=100 conv=notrunc status=none
hemstitch -dc --range 1M-1025K data.lz4 | cmp - <(cut 1048576 1049600)
status_of hemstitch -dc --range 0-1 data.lz4 2>&1 >/dev/null | sed -E 's/byte [0-9]+/byte N/; s/0x[0-9a-f]+/N/g'
