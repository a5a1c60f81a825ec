text 100000 >data
hemstitch <data >a.lz4
hemstitch - <data >b.lz4
hemstitch -c data >c.lz4
cat data | hemstitch -c >d.lz4
same a.lz4 b.lz4
same a.lz4 c.lz4
hemstitch -d <a.lz4 | cmp - data
hemstitch -dc - <d.lz4 | cmp - data
# Through a pipe the size is not known beforehand, so the header does not hold it.
hemstitch -lv a.lz4 d.lz4 | grep -c 'content size'
# A stdin that starts in the middle of a file.
(head -c 6 >/dev/null; hemstitch) <<<'123456rest' | hemstitch -d
# Files whose size the system does not say.
hemstitch -c /proc/version | hemstitch -dc | cmp - /proc/version
