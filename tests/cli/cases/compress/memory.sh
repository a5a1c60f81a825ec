text 300000 >data
hemstitch --memory 64M -B64K -T2 data
hemstitch -dc --memory 64M data.lz4 | cmp - data
hemstitch -f --memory 1K data 2>stderr
echo "exit $?"
sed -E 's/[0-9]{4,}/N/g' stderr
