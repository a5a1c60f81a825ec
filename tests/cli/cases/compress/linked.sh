needs lz4
for ((i = 0; i < 20; ++i)); do noise 4000; done >data
hemstitch -B64K data
hemstitch -B64K --linked data -o linked.lz4
[[ $(stat -c %s linked.lz4) -lt $(stat -c %s data.lz4) ]] || echo 'linking does not help'
hemstitch -lv linked.lz4 | grep -o 'lz4, linked.*'
hemstitch -dc linked.lz4 | cmp - data
lz4 -dqc linked.lz4 | cmp - data
lz4 -qcB4D data | hemstitch -d | cmp - data
