# However the process ends, it leaves no bar behind.
export HEMSTITCH_PRETEND_TERMINAL=stderr
await_bar() {
  local tries
  for ((tries = 0; tries < 500; ++tries)); do
    grep -q left\\\|GB/s\\\|MB/s "$1" && return
    sleep 0.01
  done
  echo 'no bar appeared'
}
ends_cleared() { tail -c 4 "$1" | od -An -c; }
text 200000 >data
mkfifo fifo closed
for signal in TERM INT; do
  set -m
  hemstitch fifo -o out 2>bar &
  set +m
  process=$!
  exec 3>fifo
  cat data >&3
  sleep 1.1
  cat data >&3
  await_bar bar
  kill -$signal $process
  wait $process 2>/dev/null
  echo "$signal: exit $(($? - 128))"
  exec 3>&-
  ends_cleared bar
done
# SIGPIPE, which comes from writing. What is written before fits into the pipe.
head -c 1000000 /dev/zero >data
hemstitch -c <fifo 2>bar >closed &
process=$!
exec 3>fifo 4<closed
{ cat data; sleep 1.1; cat data; } >&3
await_bar bar
exec 4<&-
cat data data data >&3 2>/dev/null
exec 3>&-
wait $process 2>/dev/null
echo "PIPE: exit $(($? - 128))"
ends_cleared bar
