# Options of gzip, pigz, lz4 and zstd: those that are here, and hints for the others.
needs gzip
text 1000 >data
for words in -a --ascii -b1 -L --license -p4 '-p 4' --processes=4 --time --no-time --zlib --zip --favor-decSpeed --content-size \
  --no-frame-crc --no-crc --ultra --adapt --single-thread --filelist=x --exclude-compressed --train --patch-from=x --no-progress \
  -l9 '-l -9' -lp; do
  # shellcheck disable=SC2086
  status_of hemstitch $words data
done 2>&1 | grep -v '^exit 1$'
names
# gzip's other words.
hemstitch --format gzip data
hemstitch --uncompress --to-stdout data.gz | cmp - data
# Suffixes of the user's.
hemstitch --format gzip -S .foo data
hemstitch -S foo -d data.foo -c | cmp - data
status_of hemstitch -S .foo data.foo
status_of hemstitch -d -S .bar data.foo
status_of hemstitch -d data.foo
status_of hemstitch -S a/b data
mkdir folder
cp data folder/a
cp data folder/b
hemstitch -r -S .foo folder
hemstitch -r -S .foo folder
rm folder/a folder/b
hemstitch -dr -S .foo folder
cmp folder/a data
hemstitch -dr folder
(cd folder && names)
# Names from lists.
printf 'folder/a\n\nfolder/b\n' >list
hemstitch -c --files-from list | hemstitch -d | cmp - <(cat data data)
printf 'folder/a\0folder/b\0' | hemstitch -qf --files-from=- data
hemstitch cat --files-from <(printf 'folder/a.lz4') | cmp - data
printf -- '-q\n-\n' >odd
status_of hemstitch -c --files-from odd
status_of hemstitch --files-from /dev/null
status_of hemstitch --files-from nowhere
# What genome tools read by place.
cp data a.vcf
hemstitch -v a.vcf -o a.vcf.gz 2>&1 | sed -n 2p
hemstitch -v --format bgzf a.vcf -o b.vcf.gz 2>&1 | sed -n 2p
hemstitch -v data -o c.vcf.gz 2>&1 | sed -n 2p
names
