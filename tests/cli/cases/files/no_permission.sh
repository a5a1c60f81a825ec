needs setpriv
[[ $EUID == 0 ]] || { echo 'skipped: only root can become nobody'; exit 77; }
chmod 755 . ..
echo x >closed
chmod 600 closed
mkdir locked
echo y >locked/open
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
status_of nobody hemstitch -c closed
status_of nobody hemstitch locked/open
names
