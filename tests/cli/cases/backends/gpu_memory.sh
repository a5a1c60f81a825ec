# -vv tells what bound a run and what memory it was given; --gpu-memory bounds that of a device.
text 4000000 >data
# What the processor waits for depends on the machine; of this device, computing takes longest by far.
numbers() { sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/N MB\/s/N GB\/s/; s/(bound by) [a-z]+/\1 STAGE/' "$@"; }
hemstitch -vv -T2 --backend cpu data 2>&1 | numbers
export HEMSTITCH_FAKE='memory=8 stage_us=1000'
hemstitch-fake -fvv -T2 --backend fake data 2>&1 | numbers
HEMSTITCH_FAKE='stage_us=30000' hemstitch-fake -fvv -T2 --backend fake data 2>&1 | grep -o 'bound by.*'
for size in 64M 16M 8M; do
  hemstitch-fake -fvv -T2 -B1M --gpu-memory $size --backend fake data 2>&1 | sed -n 's/.*planned, and //p'
  hemstitch -dc data.lz4 | cmp - data
done
status_of hemstitch-fake -f -B1M --gpu-memory 8388607 --backend fake data
hemstitch-fake -tvv --backend fake --gpu-memory 8M data.lz4 2>&1 | sed -n 's/.*planned, and //p'
mkdir top
cp data top/a
head -c 1000 data >top/b
hemstitch-fake -rvv --backend fake top 2>&1 | grep -c 'bound by'
