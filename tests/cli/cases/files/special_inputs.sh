# Pipes and devices as inputs and outputs.
mkfifo fifo
text 1000 >data
cat data >fifo &
hemstitch -c fifo | hemstitch -d | cmp - data
hemstitch -c /dev/stdin <data | hemstitch -d | cmp - data
cat data | hemstitch /dev/stdin -o piped.lz4
hemstitch -dc piped.lz4 | cmp - data
cat data >fifo 2>/dev/null &
status_of hemstitch fifo
wait
# An output that is no file is written to, not replaced.
cat fifo >through &
hemstitch data -o fifo
wait $!
hemstitch -dc through | cmp - data
hemstitch -d piped.lz4 -o /dev/null
[[ -c /dev/null && -p fifo ]] && echo kept
