# Standard streams that are closed: no file takes their place, so that no message gets into it.
text 100000 >data
hemstitch -v data >&- 2>&-
echo "exit $?"
hemstitch -dc data.lz4 | cmp - data
status_of hemstitch -v -f data <&- 2>&-
hemstitch -dc data.lz4 | cmp - data
hemstitch -c data >&- 2>told
echo "exit $?"
cat told
hemstitch -c <&- 2>&1 >/dev/null
status_of hemstitch -d 2>&1 <&-
hemstitch -h 2>told >&-
echo "exit $?"
cat told
names
