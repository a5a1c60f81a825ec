needs setpriv
[[ $EUID == 0 ]] || { echo 'skipped: only root can become nobody'; exit 77; }
chmod 755 . ..
mkdir open open/closed
echo x >open/x
echo y >open/closed/y
chmod 777 open
chmod 700 open/closed
setpriv --reuid=65534 --regid=65534 --clear-groups hemstitch -r open
echo "exit $?"
names
