# Compressed bytes are refused by a terminal, and nothing else depends on there being one.
text 1000 >data
status_of env HEMSTITCH_PRETEND_TERMINAL=stdout hemstitch -c data
status_of env HEMSTITCH_PRETEND_TERMINAL=stdout hemstitch <data
HEMSTITCH_PRETEND_TERMINAL=stdin,stdout,stderr hemstitch data
HEMSTITCH_PRETEND_TERMINAL=stdout hemstitch -cf data >forced.lz4
hemstitch -c data >plain.lz4
same forced.lz4 plain.lz4
same forced.lz4 data.lz4
HEMSTITCH_PRETEND_TERMINAL=stdout hemstitch -dc data.lz4 | cmp - data
status_of env HEMSTITCH_PRETEND_TERMINAL=stdin hemstitch -d
names
status_of env HEMSTITCH_PRETEND_TERMINAL=stdin hemstitch -l
