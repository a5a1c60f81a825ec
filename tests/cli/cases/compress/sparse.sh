# Zeros that begin, stand between, straddle units of 4096 bytes, and end.
{ head -c 100000 /dev/zero; echo a; head -c 70001 /dev/zero; text 20000; head -c 9999 /dev/zero; } >data
hemstitch data
hemstitch -d data.lz4 -o sparse
hemstitch -d --no-sparse data.lz4 -o full
hemstitch -dc data.lz4 >piped
same data sparse
same data full
same data piped
[[ $(stat -c %b sparse) -lt $(stat -c %b full) ]] || echo "$(stat -c %b sparse) blocks, and $(stat -c %b full) in full"
head -c 50000 /dev/zero >zeros
hemstitch -c zeros | hemstitch -d -o zeros2
same zeros zeros2
