# An output takes the user's attributes and the ACL of its source, and lets nobody read it who could not read that.
needs python3
attributes() { python3 "$HEMSTITCH_SOURCE/tests/cli/attributes.py" "$@"; }
access=system.posix_acl_access
first_user_reads="$access=1:6:-1 2:4:1 4:0:-1 16:4:-1 32:0:-1"
: >try
if ! attributes give try user.a=b "$first_user_reads" 2>/dev/null; then
  echo 'skipped: this file system has no attributes or no ACLs'
  exit 77
fi

mkdir tree
for name in file list plain set; do echo content >tree/$name; done
attributes give tree/file user.note=kept "user.large=$(text 200)" user.empty= user.long_name_{1..9}{,,}_{a..c}=x
attributes give tree/list user.small=1 "$first_user_reads"
chmod 444 tree/file
chmod 640 tree/plain
chmod 7755 tree/set
attributes show tree/* | cut -c -150
attributes show tree/file tree/list tree/plain >as_it_was
# Alone, in batches, and in batches that replace what is there.
for options in -k -r -rf; do
  hemstitch $options tree/*
  mkdir restored
  mv tree/*.lz4 restored
  hemstitch -d $options restored/*.lz4
  attributes show restored/* | sed 's,^restored/,tree/,' >shown
  grep -v '\.lz4 \|^tree/set' shown | cmp - as_it_was && grep '\.lz4 ' shown | sed 's/\.lz4 / /' | grep -v ^tree/set |
    cmp - as_it_was && echo "$options: as it was"
  grep ^tree/set shown
  rm -r restored
done

echo 'a folder that lets others read what is made in it:'
mkdir -m 700 shared
attributes give shared 'system.posix_acl_default=1:7:-1 2:7:1 4:7:-1 16:7:-1 32:7:-1'
cp tree/plain shared/plain
attributes show shared/plain
attributes take shared/plain $access
chmod 640 shared/plain
cp --preserve=all tree/list shared/list
hemstitch shared/plain shared/list
attributes show shared/*.lz4
rm shared/*.lz4
hemstitch -r shared
attributes show shared/*.lz4
hemstitch -rfq shared
# What comes from no file is the folder's.
hemstitch <tree/plain -o shared/piped
attributes show shared/*.lz4 shared/piped
