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
# One that is mistyped: nothing is done with the words behind it.
echo x >data
for word in serch searhc bnech ben evalute backend cta ct decompress list help benchmark grep; do
  status_of hemstitch $word data
done
# Another name is a file's, and the others are done.
status_of hemstitch seldom data
names
touch serch
hemstitch serch
