# Temporary files are nobody's inputs, and those that a killed run left are named.
mkdir folder
echo x >folder/x
echo y >folder/.hemstitch-notours
echo z >folder/.hemstitch-123456789
mkfifo fifo
hemstitch fifo -o folder/out &
process=$!
exec 3>fifo
text 100000 >&3
(cd folder && for ((i = 0; i < 500 && $(ls -A | grep -cx '.hemstitch-[0-9a-f]\{8\}') == 0; ++i)); do sleep 0.01; done)
hide() { sed 's/\.hemstitch-[0-9a-f]\{8\}\b/TEMPORARY/g'; }
echo 'while it is at work:'
hemstitch -r folder 2>&1 | hide
hemstitch -r folder/.hemstitch-???????? 2>&1 | hide
hemstitch -tr folder 2>&1 | hide
ls -A folder | hide | sort
echo 'after it was killed:'
{
  kill -KILL $process
  exec 3>&-
  wait $process
} 2>/dev/null
status_of hemstitch -rf folder 2>&1 | hide
status_of hemstitch -rfq folder
status_of hemstitch -dfr folder 2>&1 | hide
status_of hemstitch -r folder/.hemstitch-???????? 2>&1 | hide
ls -A folder | hide | sort
# Empty, and made some time ago; but not what is no file.
rm folder/.hemstitch-*
: >folder/.hemstitch-00000000
ln -s x folder/.hemstitch-00000001
mkdir folder/.hemstitch-00000002
sleep 2.1
hemstitch -rf folder

# A name that has no room for the suffix is refused before the work: the pipe is never read.
name=$(printf 'n%.0s' {1..252})
long() { sed 's/n\{252\}/NAME/g'; }
echo x >"$name"
hemstitch "$name" 2>&1 | long
hemstitch -r "$name" 2>&1 | long
hemstitch -c "$name" | hemstitch -d
echo x >"${name:1}"
hemstitch "${name:1}"
hemstitch -dc "${name:1}.lz4"
timeout 10 hemstitch fifo -o "$name.lz4" 2>&1 3<>fifo | long
