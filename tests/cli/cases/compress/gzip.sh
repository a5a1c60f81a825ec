# label: threads
# gzip, BGZF, zlib and raw DEFLATE, by --format or the suffix of -o.
needs gzip
text 300000 >data
hemstitch --format gzip data
hemstitch --format zlib data
hemstitch --format bgzf data -o blocks
hemstitch --format deflate -c data >raw
names
gzip -dc data.gz | cmp - data
gzip -dc blocks | cmp - data
{ printf '\x1f\x8b\x08\0\0\0\0\0\0\xff' && cat raw && tail -c 8 data.gz; } | gzip -dc | cmp - data
# The suffix says the format; a file of that name is compressed once more only where that is asked for.
hemstitch data -o by_name.gz
same data.gz by_name.gz
hemstitch data -o by_name.tgz
same data.gz by_name.tgz
hemstitch data -o by_name.zz
same data.zz by_name.zz
hemstitch data -o by_name.bgz
same blocks by_name.bgz
status_of hemstitch --format gzip data.gz
status_of hemstitch --format gzip data
# Neither name nor time unless asked: the same content gives the same bytes.
cp data other
touch -d '2001-02-03 04:05:06 UTC' data
hemstitch --format gzip -f data other
same data.gz other.gz
hemstitch --format gzip -N -f data
gzip -lN data.gz | awk 'NR == 2 { print $NF }'
mv data original
gzip -dN data.gz
same data original
date -u -r data +%s
hemstitch --format gzip -Nn -c data | cmp - other.gz
hemstitch --format gzip -N <data | cmp - other.gz
# Levels: 6 is the default.
hemstitch --format gzip -6 -c data | cmp - other.gz
for level in 1 9 12; do hemstitch --format gzip -$level -c data | gzip -dc | cmp - data; done
# The index beside it is there with it, or neither is.
rm blocks
hemstitch --format bgzf --index data -o blocks
od -An -v -w16 -tu8 blocks.gzi | head -n 2
rm blocks
echo mine >blocks.gzi
status_of hemstitch --format bgzf --index data -o blocks
names
hemstitch --format bgzf --index -f data -o blocks
stat -c %s blocks.gzi
# A dictionary of zlib is named by a checksum of all of it.
head -c 70000 data >large
status_of hemstitch --format zlib -D large -f other
# Folders.
mkdir -p tree/in
cp data tree/in/a
: >tree/in/b
text 10 >tree/c
hemstitch -r --format gzip tree
find tree -type f | sort
gzip -dc tree/in/a.gz | cmp - data
gzip -dc tree/in/b.gz | wc -c
hemstitch -r --format gzip tree
