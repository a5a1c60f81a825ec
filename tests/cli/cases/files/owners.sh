# Owners, groups and ACLs that cannot be given: then nobody else may read the output who could not read its source.
needs setpriv python3 mount unshare
[[ $EUID == 0 ]] || { echo 'skipped: only root can become nobody'; exit 77; }
attributes() { python3 "$HEMSTITCH_SOURCE/tests/cli/attributes.py" "$@"; }
facts() { stat -c '%a %u:%g %n' "$@"; }
chmod 755 . ..
# Nobody, in a group of its own, whose files are another group's: as in a folder that gives its group.
nobody() { setpriv --reuid=65534 --regid=100 --clear-groups "$@"; }
mkdir -m 777 folder
cd folder || exit
for mode in 640 644 604 660 466 4755 2750 777; do
  echo content >$mode
  chown 65534:7 $mode
  chmod $mode $mode
done
echo 'group lost:'
for options in -k -r -rf; do
  nobody hemstitch $options [0-9]*[0-9]
  echo "exit $?"
  facts *.lz4
  [[ $options == -r ]] || rm -f *.lz4
done 2>&1 | grep -v '^profiling:' | sort | uniq -c | sed 's/^ *//'
rm -f *.lz4
echo 'group kept, owner lost:'
chown 1 640 660 644
setpriv --reuid=65534 --regid=100 --groups=7 hemstitch 640 660 644
facts *.lz4
rm *.lz4
echo 'all kept:'
hemstitch -q [0-9]*[0-9]
facts *.lz4
rm *.lz4
echo "the folder's group:"
chgrp 9 .
chmod 2777 .
echo content >here
chown 65534:100 here
chmod 640 here
nobody hemstitch here
nobody hemstitch -r here -f
facts here.lz4

# Never what only root may give.
cp /bin/true able
attributes give able trusted.secret=1 user.mine=1
python3 -c 'import os, struct; os.setxattr("able", "security.capability", struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0))'
attributes show able
hemstitch -q able
attributes show able.lz4

# A file system without attributes.
cd ..
mkdir plain
attributes give folder/here 'system.posix_acl_access=1:6:-1 2:6:1 4:6:-1 8:4:5 16:6:-1 32:6:-1'
unshare -m bash -c '
  mount -t ramfs none plain 2>/dev/null || { echo "no such file system here"; exit; }
  hemstitch folder/here -o plain/here; echo "exit $?"
  hemstitch folder/able -o plain/able; echo "exit $?"
  hemstitch -q folder/640 -o plain/640; echo "exit $?"
  stat -c "%a %u:%g %n" plain/*' >seen 2>&1 || echo 'no such file system here' >seen
if [[ $(<seen) == 'no such'* ]]; then
  echo 'skipped: no file system without attributes can be mounted here'
  exit 77
fi
cat seen
