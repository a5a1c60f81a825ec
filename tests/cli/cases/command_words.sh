hemstitch backends >/dev/null
# A file of that name: an error, and how to write it.
echo x >bench
status_of hemstitch bench
hemstitch ./bench
hemstitch -o twice.lz4 -- bench
hemstitch -c bench | hemstitch -dc
names
# A folder of that name could be no input, so it is no reason to hesitate.
rm bench
mkdir bench backends
hemstitch backends | tail -n 1
