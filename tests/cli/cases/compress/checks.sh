needs lz4
text 1000 >data
for option in --check --check=content --no-check; do
  hemstitch -f $option data
  lz4 -tq data.lz4
  hemstitch -l data.lz4 | awk 'NR == 2 { print $6 }'
done
# --no-check verifies nothing: a content checksum that is wrong passes.
hemstitch -f --check=content data
printf 'XXXX' | dd of=data.lz4 bs=1 seek=$(($(stat -c %s data.lz4) - 4)) conv=notrunc status=none
hemstitch -dc data.lz4 2>&1 >/dev/null | sed -E 's/byte [0-9]+/byte N/; s/0x[0-9a-f]+/N/g'
hemstitch -dc --no-check data.lz4 | cmp - data
