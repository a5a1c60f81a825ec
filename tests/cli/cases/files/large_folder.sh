# label: threads
# More entries than one thread looks at in a row, with folders among them: each is found once, in order.
mkdir top
(cd top && mkdir 2000d 4000d && seq 1000 5199 | xargs touch && touch 2000d/f 4000d/f)
hemstitch -rq top
ls top | wc -l
hemstitch -rl top | awk 'NR > 1 { print $NF }' | grep lz4 >listed
(cd top && find . -name '*.lz4' | sed 's,^\./,top/,' | LC_ALL=C sort) | cmp - listed && wc -l <listed
status_of hemstitch -r top
