# A file with the suffix is compressed once more only where that is asked for.
text 1000 >data
hemstitch data
status_of hemstitch data.lz4
status_of hemstitch data.lz4 -o twice
status_of hemstitch -c data.lz4
names
# The other files are done.
echo x >other
status_of hemstitch other data.lz4
hemstitch -z data.lz4
hemstitch -dc data.lz4.lz4 | cmp - data.lz4
hemstitch -fc data.lz4 | cmp - data.lz4.lz4
hemstitch <data.lz4 | hemstitch -d | cmp - data.lz4
# In folders it is passed over, whatever is asked for.
mkdir top
mv data.lz4 top
hemstitch -r top
hemstitch -rz top
hemstitch -rf top/data.lz4
find top
# Other reasons come first: that it is not there, that it is a folder.
mkdir folder.lz4
status_of hemstitch missing.lz4
status_of hemstitch folder.lz4
