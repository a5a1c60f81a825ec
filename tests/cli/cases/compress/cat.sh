# cat is -dc: any number of files to stdout, stdin where '-' stands.
text 1000 >a
text 2000 >b
hemstitch -q a b
rm a b
hemstitch cat a.lz4 b.lz4 | cmp - <(text 1000; text 2000)
hemstitch cat a.lz4 - b.lz4 <a.lz4 | cmp - <(text 1000; text 1000; text 2000)
hemstitch cat <b.lz4 | cmp - <(text 2000)
mkdir folder
mv a.lz4 folder
hemstitch cat -r folder | cmp - <(text 1000)
hemstitch cat --range 2-4 b.lz4
HEMSTITCH_THREADS=1 hemstitch cat -v b.lz4 2>&1 >/dev/null | grep -o '1 thread,'
HEMSTITCH_BACKEND=reference hemstitch cat -v b.lz4 2>&1 >/dev/null | grep -o 'backend reference,'
# One that cannot be read is told, the others are shown; -f passes on what is not compressed.
echo plain >plain
status_of hemstitch cat missing.lz4 plain folder/a.lz4 | tail -n 2
hemstitch cat -f plain folder/a.lz4 | head -n 2
names
try() { status_of hemstitch cat "$@" b.lz4; }
try -t
try -l
try -z
try -o out
try --rm
hemstitch cat -h | head -n 1
echo x >cat
status_of hemstitch cat
hemstitch -c ./cat | hemstitch -d
