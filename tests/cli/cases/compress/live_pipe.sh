# label: threads
# A writer that waits for the answer to each message before it writes the next one: what has come goes out when the input pauses.
needs python3
talk() { "$HEMSTITCH_SOURCE/tests/cli/live_pipe.py" "$@"; }
for kind in gzip members lz4; do
  for options in -T1 -T2 -T4; do
    echo "$kind $options"
    status_of talk "$kind" hemstitch -dc "$options"
  done
done
echo 'cat and search'
status_of talk gzip hemstitch cat -
status_of talk --lines gzip hemstitch search -z answer -
status_of talk --lines members hemstitch search -z -T4 answer -
status_of talk --lines lz4 hemstitch search -z answer -
