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
