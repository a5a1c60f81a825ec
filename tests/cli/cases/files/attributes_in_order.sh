# At no moment can anybody read an output who could not read its source: the mode comes last, and until then it is 600. What has no name
# yet is nobody's to open. And a temporary file is in use until it has its name.
needs_watching
needs python3
attributes() { python3 "$HEMSTITCH_SOURCE/tests/cli/attributes.py" "$@"; }
mkdir tree
echo content >tree/file
echo content >tree/list
chmod 644 tree/file
list='system.posix_acl_access=1:6:-1 2:4:1 4:0:-1 16:4:-1 32:0:-1'
if ! { attributes give tree/file user.a=b && attributes give tree/list "$list"; } 2>/dev/null; then
  echo 'skipped: this file system has no attributes or no ACLs'
  exit 77
fi
for file in tree/file tree/list; do
  echo "== $file"
  HEMSTITCH_WATCH_LOG=log watched hemstitch $file
  cat log
  rm log
done
rm tree/*.lz4
echo '== in a batch'
HEMSTITCH_WATCH_LOG=log watched hemstitch -rT1 tree
cat log

echo '== in use until it has its name, and while a source goes'
rm tree/*.lz4
HEMSTITCH_WATCH_AT='renameat2 hemstitch -rt tree' watched hemstitch tree/file
HEMSTITCH_WATCH_AT='unlinkat hemstitch -rt tree' watched hemstitch -d --rm -f tree/file.lz4
