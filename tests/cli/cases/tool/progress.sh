# label: threads
# A bar on a terminal, for work of more than a second; none elsewhere, and none with -q.
slowly() { text 100000; sleep 1.2; text 100000; }
bar() { tr '\r' '\n' | sed -E 's/\x1b\[K//g; s/[0-9]+(\.[0-9]+)?/N/g; s/N [kMG]?B/N B/g; s/  N:N left//' | grep -v '^$' | sort -u; }
slowly | HEMSTITCH_PRETEND_TERMINAL=stderr hemstitch -c 2>&1 >out.lz4 | bar &
slowly | HEMSTITCH_PRETEND_TERMINAL=stderr hemstitch -qc 2>quiet >quiet.lz4 &
slowly | hemstitch -c 2>plain >plain.lz4 &
wait
[[ -s quiet || -s plain ]] && echo 'a bar where none should be'
hemstitch -t out.lz4
text 1000 >data
HEMSTITCH_PRETEND_TERMINAL=stderr hemstitch data
# One line for a whole tree, over batches and single files, messages between; and none where content goes to the terminal.
mkdir top
text 100000 >top/a
text 100000 >top/b
echo x >top/c
touch -d @1 top/c.lz4
slowly | HEMSTITCH_PRETEND_TERMINAL=stderr hemstitch -r top - missing 2>single >single.lz4 &
mkdir fake
for number in 1 2 3 4 5 6; do
  head -c 1000000 /dev/zero >fake/$number
done
HEMSTITCH_FAKE='delay_us=250000' HEMSTITCH_PRETEND_TERMINAL=stderr hemstitch-fake -rT1 --backend fake fake 2>batches &
HEMSTITCH_FAKE='delay_us=250000' HEMSTITCH_PRETEND_TERMINAL=stderr hemstitch-fake -rcT1 --backend fake fake 2>one_by_one >/dev/null &
slowly | HEMSTITCH_PRETEND_TERMINAL=stdout,stderr hemstitch -cf 2>content >content.lz4 &
wait
bar <single
grep -oE '[0-9] of [0-9] files' single | sort -u
bar <batches
# At the end all are counted, the last file alone is not done before its output is; and the line is empty.
grep -oE '6 of 6 files  6.0 MB of 6.0 MB|0:00 left' batches | sort -u
grep -oE '5 of 6 files  6.0 MB of 6.0 MB|0:00 left' one_by_one | sort -u
tail -c 4 batches | od -An -c
[[ -s content ]] && echo 'a bar amid content'
hemstitch -dc single.lz4 | cmp - <(text 100000; text 100000)
