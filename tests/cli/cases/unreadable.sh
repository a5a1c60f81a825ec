status_of hemstitch missing
status_of hemstitch -c /proc/self/mem
status_of hemstitch -D missing /dev/null -o out
names
