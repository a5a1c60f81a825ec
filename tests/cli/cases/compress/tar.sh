needs tar
mkdir folder
text 10000 >folder/a
echo b >folder/b
tar --use-compress-program=hemstitch -cf archive.tar.lz4 folder
hemstitch -t archive.tar.lz4
mv folder original
tar --use-compress-program=hemstitch -xf archive.tar.lz4
diff -r folder original && echo same
tar -I 'hemstitch -9' -cf nine.tar.lz4 folder
tar -I hemstitch -tf nine.tar.lz4
