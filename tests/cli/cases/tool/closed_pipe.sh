text 1000000 >data
hemstitch data
hemstitch -dc data.lz4 | head -n 1
echo "exit $((PIPESTATUS[0] - 128))"
# Where the signal is ignored, the error is told.
(trap '' PIPE; hemstitch -dc data.lz4; echo "exit $?" >&2) | head -n 1
