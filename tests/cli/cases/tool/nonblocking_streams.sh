# stdin and stdout that another program made non-blocking: we wait for them.
needs python3
noise 100000 >data
between() { "$HEMSTITCH_SOURCE/tests/cli/nonblocking.py" "$@"; }
status_of between data data.lz4 hemstitch -c
status_of between data.lz4 restored hemstitch -dc
same data restored
grep -n 7 data >expected
status_of between data found hemstitch search -n 7 - data
sed -i '/^(standard input):/d; s/^data://' found
same expected found
