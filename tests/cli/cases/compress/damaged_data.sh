# label: threads
# One line with the place; nothing under the final name; the other files go on.
text 200000 | head -c 1000000 >data
hemstitch -B64K data
cp data.lz4 good.lz4
head -c 150000 data.lz4 >cut.lz4
cp data.lz4 flipped.lz4
printf '\xff\xff\xff\xff' | dd of=flipped.lz4 bs=1 seek=100000 conv=notrunc status=none
cp data.lz4 header.lz4
printf '\xff' | dd of=header.lz4 bs=1 seek=5 conv=notrunc status=none
hemstitch -d cut.lz4 flipped.lz4 header.lz4 good.lz4 2>stderr
echo "exit $?"
sed -E 's/0x[0-9a-f]+/N/g; s/[0-9]{4,}/N/g; s/block [0-9]+/block N/' stderr
same good data
names
hemstitch -t flipped.lz4 2>/dev/null
