text 1000 >data
cp data original
hemstitch --rm data
names
hemstitch -d --rm data.lz4
same data original
names
# Not when something went wrong.
cp data data.lz4
status_of hemstitch --rm data
head -c 100 original >cut
hemstitch -c cut | head -c 50 >cut.lz4
hemstitch -d --rm -f cut.lz4 2>/dev/null
names
rm data.lz4 cut cut.lz4

echo 'several names:'
ln data second
status_of hemstitch --rm data
status_of hemstitch -q --rm -f data
names
mkdir tree
echo x >tree/a
ln tree/a tree/b
echo y >tree/c
status_of hemstitch -r --rm tree
status_of hemstitch -r --rm -f tree
names
rm -r tree data* second

echo 'a link:'
cp original data
ln -s data link
status_of hemstitch --rm link
rm link.lz4
cp original other
mkdir tree
ln -s ../other tree/link
status_of hemstitch -r --rm tree tree/link
names
rm -r tree link data other

echo 'open for writing:'
mkdir tree
for name in a b c; do echo "$name" >tree/$name; done
exec 5>>tree/b
status_of hemstitch -r --rm tree
echo more >&5
exec 5>&-
names
cat tree/b
rm tree/b.lz4
exec 5<tree/b # reading is no reason
status_of hemstitch --rm tree/b
exec 5<&-
names
rm -r tree

echo 'outputs that are not kept, sources that are no files:'
cp original data
mkfifo fifo
status_of hemstitch --rm data -o fifo
cat data >fifo 2>/dev/null &
status_of hemstitch --rm fifo -o out
wait
exec 5>through # a regular file, but not written whole to a name of its own
status_of hemstitch --rm data -o /dev/fd/5
exec 5>&-
names
mkdir tree
cp data tree/a
cp data tree/b
mkfifo tree/a.lz4
status_of hemstitch -rf --rm tree
names

echo 'no permission to remove:'
if [[ $EUID == 0 ]]; then
  chmod 755 . .. && chmod 755 tree && chown 65534 tree/a && rm -f tree/*.lz4
  setpriv --reuid=65534 --regid=65534 --clear-groups hemstitch --rm tree/a -o /dev/shm/hemstitch-$$.lz4
  echo "exit $?"
  rm -f /dev/shm/hemstitch-$$.lz4
else
  echo "hemstitch: tree/a: compressed, but cannot be removed: Permission denied" >&2
  echo 'exit 1'
fi
names
