status_of hemstitch missing
hemstitch -c /proc/self/mem >/dev/null
echo "exit $?"
status_of hemstitch /proc/self/mem -o out
status_of hemstitch -D missing /dev/null -o out
names
