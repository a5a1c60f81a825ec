# label: threads
# A signal leaves no partial file, and ends the process as it ends others.
for signal in INT TERM HUP; do
  rm -f fifo
  mkfifo fifo
  # Job control, since a script's background jobs ignore INT.
  set -m
  hemstitch fifo -o out &
  set +m
  process=$!
  exec 3>fifo
  text 1000 >&3
  await_temporary
  kill -$signal $process
  wait $process 2>/dev/null
  echo "$signal: exit $(($? - 128))"
  exec 3>&-
done
names
# One that was ignored from the beginning stays ignored.
trap '' HUP
hemstitch fifo -o out &
process=$!
exec 3>fifo
echo x >&3
await_temporary
kill -HUP $process
echo y >&3
exec 3>&-
wait $process
echo "exit $?"
hemstitch -dc out
