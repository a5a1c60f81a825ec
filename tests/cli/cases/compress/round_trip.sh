# label: threads
needs lz4
text 300000 >data
hemstitch data
names
lz4 -tq data.lz4
hemstitch -dc data.lz4 | cmp - data
mv data original
hemstitch -d data.lz4
same data original
for level in 1 2 3 6 9 12; do
  hemstitch -f -$level data
  lz4 -dqc data.lz4 | cmp - data
  hemstitch -dc data.lz4 | cmp - data
done
: >empty
hemstitch empty
lz4 -tq empty.lz4
hemstitch -dc empty.lz4 | wc -c
