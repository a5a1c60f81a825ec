# label: threads
mkdir -p top/sub/deep
echo a >top/a
echo b >top/sub/b
echo c >top/sub/deep/c
echo done | hemstitch >top/old.lz4
ln -s a top/link
ln -s sub top/folder_link
mkfifo top/pipe
status_of hemstitch top
status_of hemstitch -d top
status_of hemstitch top/
status_of hemstitch .
status_of hemstitch -l top
hemstitch -r top
names
find top -type f -exec sha256sum {} + | sort >before
echo 'again:'
status_of hemstitch -r top
find top -type f -exec sha256sum {} + | sort | cmp - before
echo 'changed:'
echo changed >top/a
status_of hemstitch -r top
hemstitch -rqf top/a
echo 'restored:'
rm top/a top/sub/b
status_of hemstitch -dr top # c is older than c.lz4: not what an earlier -d made of it
rm top/sub/deep/c
hemstitch -dr top
cat top/a top/sub/b top/old top/sub/deep/c
echo 'again:'
status_of hemstitch -dr top
hemstitch -rtq top
hemstitch -rl top | awk '{ print $4, $NF }'
mkdir empty
hemstitch -r empty
