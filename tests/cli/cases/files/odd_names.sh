needs lz4
echo x >-x
hemstitch -- -x
hemstitch ./-x -o '[a,b]'
lz4 -dqc < '[a,b]'
echo y >'[a,b] %s {}'
hemstitch '[a,b] %s {}'
hemstitch -dc -- '[a,b] %s {}.lz4'
names
# A name with a line break stays one line of a message.
hemstitch $'two\nlines'
