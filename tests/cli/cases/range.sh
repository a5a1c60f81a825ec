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
# Blocks outside the range are not restored: damage there does not show.
printf '\xff\xff\xff\xff' | dd of=data.lz4 bs=1 seek=100 conv=notrunc status=none
hemstitch -dc --range 1M-1025K data.lz4 | cmp - <(cut 1048576 1049600)
status_of hemstitch -dc --range 0-1 data.lz4 2>&1 >/dev/null | sed -E 's/byte [0-9]+/byte N/; s/0x[0-9a-f]+/N/g'
