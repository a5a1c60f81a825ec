# Where an output's name is a link: what it leads to is not written through it. Names that the user gives for something that is no
# place for a file, but stands there to be written to, are written to.
echo content >data
echo elsewhere >elsewhere
facts() { stat -c '%n %i %s %a' "$@"; }
facts elsewhere >before

echo 'the place that the input names:'
for to in elsewhere nowhere /dev/full fifo folder data.lz4; do
  rm -f data.lz4
  ln -s $to data.lz4
  [[ -e fifo ]] || mkfifo fifo
  mkdir -p folder
  status_of hemstitch data
  [[ -L data.lz4 ]] || echo 'gone without -f'
  hemstitch -f data
  [[ ! -L data.lz4 ]] && hemstitch -dc data.lz4
done
ln -s elsewhere data.link
mv data.lz4 data.link.lz4
status_of hemstitch -d -o data.link data.link.lz4
hemstitch -df data.link.lz4
[[ ! -L data.link ]] && cat data.link
rm data.link.lz4 data.link
echo 'with -r:'
mkdir tree
echo in >tree/in
ln -s ../elsewhere tree/in.lz4
status_of hemstitch -r tree
hemstitch -qrf tree
hemstitch -dc tree/in.lz4
rm tree/in
ln -s ../elsewhere tree/in
status_of hemstitch -dr tree
hemstitch -dqrf tree
[[ ! -L tree/in ]] && cat tree/in
facts elsewhere | cmp - before
names

echo 'no file, and nobody named it:'
mkfifo data.lz4
status_of timeout 10 hemstitch data
status_of timeout 10 hemstitch -f data
status_of timeout 10 hemstitch -f -r data
rm data.lz4

echo 'named to be written to:'
hemstitch -c data >data.lz4
for name in /dev/null ./null ./nulls; do
  ln -sf /dev/null null
  ln -sf null nulls
  hemstitch -d data.lz4 -o $name
done
[[ -c /dev/null && -L null && -L nulls ]] && echo kept
cat fifo >through &
ln -s fifo to_fifo
hemstitch -d data.lz4 -o to_fifo
wait $!
cat through
# From where the descriptor stands, or at its end.
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1 /proc/thread-self/fd/1 ./stdout; do
  ln -sf /dev/stdout stdout
  echo before >out
  inode=$(stat -c %i out)
  { echo first; hemstitch -d data.lz4 -o $name; echo last; } >out
  { hemstitch -d data.lz4 -o $name; echo last; } >>out
  [[ $(stat -c %i out) == "$inode" && -L stdout ]] && tr '\n' ' ' <out && echo $name
done
{ hemstitch -d data.lz4 -o /dev/stderr; echo last >&2; } 2>out
cat out
for name in /dev/fd/3 /proc/self/fd/3; do
  hemstitch -d data.lz4 -o $name 3>>out
done
cat out
hemstitch -d data.lz4 -o /dev/fd/1 | cat
# Another process's: at the end of what is there.
sleep 60 3<>out &
hemstitch -d data.lz4 -o /proc/$!/fd/3
kill $!
cat out
echo 'no place to write:'
status_of hemstitch data -o /dev/fd/3 3>>data
status_of hemstitch data -o /dev/fd/3 3>&-
status_of hemstitch data -o /dev/fd/0
status_of hemstitch data -o /dev/fd/77 77>&-
ln -s folder to_folder
status_of hemstitch -f data -o to_folder
ln -s circle circle
status_of hemstitch data -o circle
hemstitch -f data -o circle
hemstitch -dc circle
ln -s data to_data
status_of hemstitch -f data -o to_data
cat data
names
