echo x >data
chmod 640 data
touch -d '2001-02-03 04:05:06.789 UTC' data
hemstitch data
stat -c '%a %n' data.lz4
TZ=UTC stat -c %y data.lz4
hemstitch data -o other
stat -c '%a %n' other
chmod 604 data.lz4
rm data
hemstitch -d data.lz4
stat -c '%a %n' data
TZ=UTC stat -c %y data
# What comes from stdin has neither.
hemstitch <data -o piped
stat -c '%a %n' piped
# Until it is complete, an output is its owner's alone.
mkfifo fifo
hemstitch fifo -o slow &
exec 3>fifo
echo x >&3
await_temporary
stat -c %a .hemstitch-*
exec 3>&-
wait $!
stat -c '%a %n' slow
names
