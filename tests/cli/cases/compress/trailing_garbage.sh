text 1000 >data
hemstitch -c data >data.lz4
cp data.lz4 good.lz4
printf 'not a frame' >>data.lz4
size=$(stat -c %s good.lz4)
rm data
hemstitch -d --rm data.lz4 2>stderr
echo "exit $?"
sed "s/byte $size:/byte SIZE:/" stderr
text 1000 | cmp - data
names
status_of hemstitch -qt data.lz4
hemstitch -ql data.lz4 >/dev/null
echo "exit $?"
hemstitch -t data.lz4 good.lz4 2>/dev/null
