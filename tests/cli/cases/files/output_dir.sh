# --output-dir: a file for each input below it, in folders as below the arguments, and nothing anywhere else.
mkdir -p top/sub/deep other
text 10 >top/a
text 20 >top/sub/b
text 1000000 >top/sub/deep/large
text 30 >other/c
chmod 640 top/a
touch -d @1000000000 top/a
tree() { (cd "$1" && find . -mindepth 1 -printf '%M %P\n' | sort -k 2); }
snapshot() { find top other -exec stat -c '%n %a %Y' {} +; }
snapshot >before

echo 'files:'
hemstitch --output-dir out top/a other/c
tree out
stat -c %Y out/a.lz4
hemstitch cat out/a.lz4 | cmp - top/a
hemstitch -d --output-dir=restored out/a.lz4 out/c.lz4
cmp top/a restored/a && cmp other/c restored/c

echo 'trees, with what their folders allow:'
chmod 750 top/sub
chmod 500 top/sub/deep
chmod 711 other
chmod 705 top
snapshot >before
hemstitch -r --output-dir mirror top other/c
tree mirror
umask 077
hemstitch -dr --output-dir again/ mirror
umask 022
cmp again/c other/c
rm again/c
diff -r again top
tree again
echo 'a second run:'
status_of hemstitch -r --output-dir mirror top other/c
HEMSTITCH_LEVEL=9 hemstitch -rf --output-dir mirror -T1 top
snapshot | cmp - before

echo 'two for one place:'
mkdir -p one/sub two/sub
text 1 >one/sub/x
text 2 >two/sub/x
text 3 >two/sub/y
status_of hemstitch -rf --output-dir both one two
hemstitch cat both/sub/x.lz4
status_of hemstitch -f --output-dir both one/sub/x two/sub/x
tree both

echo 'links:'
mkdir elsewhere linked
echo precious >elsewhere/precious
ln -s ../elsewhere linked/sub
status_of hemstitch -rf --output-dir linked one
ln -s ../elsewhere/precious linked/a.lz4
status_of hemstitch --output-dir linked top/a
hemstitch -f --output-dir linked top/a
stat -c '%F' linked/a.lz4
# The folder at the top is the user's own to name.
ln -s elsewhere by_link
hemstitch --output-dir by_link top/a
cat elsewhere/precious
(cd elsewhere && names)

echo 'names:'
mkdir strange
for name in '...lz4' '..lz4' '-.lz4' ' .lz4' $'new\nline.lz4' '*.lz4'; do cp out/a.lz4 strange/"$name"; done
(cd strange && hemstitch -d --output-dir ../named -- *)
status_of hemstitch -dr --output-dir named/below strange
tree named
status_of hemstitch --output-dir=named top/sub/..
status_of hemstitch --output-dir=named top/sub/

echo 'sources removed:'
cp -r one gone
hemstitch -r --rm --output-dir moved gone
tree moved
find gone

echo 'mistakes:'
status_of hemstitch --output-dir missing/folder top/a
status_of hemstitch --output-dir top/a other/c
mkdir clash
echo x >clash/sub
status_of hemstitch -r --output-dir clash one
try() { status_of hemstitch --output-dir never "$@"; }
try -c top/a
try -o x top/a
try -t out/a.lz4
try -l out/a.lz4
try - <top/a
try <top/a
try -d top/a
try missing
status_of hemstitch cat --output-dir never out/a.lz4
status_of hemstitch --output-dir
[[ -e missing ]] && echo 'a folder was made where none should be'
chmod 700 top/sub/deep
