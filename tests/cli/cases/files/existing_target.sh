echo new >data
echo old >data.lz4
status_of hemstitch data
cat data.lz4
hemstitch -f data
hemstitch -dc data.lz4
echo other >data
status_of hemstitch -d data.lz4
cat data
hemstitch -df data.lz4
cat data
# The target itself, by any name.
status_of hemstitch -f data -o data
ln data second
status_of hemstitch -f data -o second
status_of hemstitch -f data -o ./data
cat data
hemstitch -c data >>data
echo "exit $?"
hemstitch <data >>data
echo "exit $?"
cat data
status_of hemstitch data -o .
status_of hemstitch data -o missing/data.lz4
# A link is replaced, and what it leads to stays as it is.
echo old >behind
ln -s behind link
status_of hemstitch data -o link
hemstitch -f data -o link
[[ ! -L link ]] && hemstitch -dc link
cat behind
# A link to nothing is replaced on demand alone, too.
ln -s nowhere dangling
status_of hemstitch data -o dangling
rm dangling
names
