# A bar on a terminal, for work of more than a second; none elsewhere, and none with -q.
slowly() { text 100000; sleep 1.2; text 100000; }
bar() { tr '\r' '\n' | sed -E 's/\x1b\[K//g; s/[0-9]+(\.[0-9]+)?/N/g; s/N MB\/s/N GB\/s/' | grep -v '^$' | sort -u; }
slowly | HEMSTITCH_PRETEND_TERMINAL=stderr hemstitch -c 2>&1 >out.lz4 | bar &
slowly | HEMSTITCH_PRETEND_TERMINAL=stderr hemstitch -qc 2>quiet >quiet.lz4 &
slowly | hemstitch -c 2>plain >plain.lz4 &
wait
[[ -s quiet || -s plain ]] && echo 'a bar where none should be'
hemstitch -t out.lz4
text 1000 >data
HEMSTITCH_PRETEND_TERMINAL=stderr hemstitch data
