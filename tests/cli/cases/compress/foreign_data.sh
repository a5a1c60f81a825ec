needs python3 xz bzip2
text 100 >data
bzip2 -c data >data.bz2.lz4
xz -k data
bzip2 -k data
status_of hemstitch -d data.bz2.lz4
status_of hemstitch -t data.xz
status_of hemstitch -l data.bz2
status_of hemstitch -dc data.xz
status_of hemstitch -d data.xz -o out
status_of hemstitch -dc data
printf 'LZ4Block\x15' | status_of hemstitch -dc
printf 'mozLz40\0' | status_of hemstitch -dc
python3 -c 'import sys, zlib; sys.stdout.buffer.write(zlib.compress(b"text"))' >zlib
status_of hemstitch -t zlib
rm zlib
status_of hemstitch -dc /dev/null
# By its first bytes, whatever its name.
hemstitch data -o data.xyz
hemstitch -d data.xyz -o restored
same data restored
status_of hemstitch -d data.xyz
# Passed on unchanged where that was asked for.
for file in data data.xz data.bz2.lz4; do hemstitch -dcf "$file" | cmp - "$file"; done
hemstitch -dcf <data | cmp - data
hemstitch -dcf data data.xyz | cmp - <(cat data data)
status_of hemstitch -dcf /dev/null
# But not into a file.
status_of hemstitch -df data.xz -o out
names
# Data of ours, and another format named.
text 500 >ours
hemstitch --format gzip ours
hemstitch --format zstd ours
status_of hemstitch -dc --format zstd ours.gz
status_of hemstitch -dc --format lz4 ours.zst
