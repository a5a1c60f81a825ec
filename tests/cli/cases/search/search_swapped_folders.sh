# Folders and files that are swapped for links while search walks them: nothing outside is read, however long that goes on.
# HEMSTITCH_SEARCH_RUNS: how many runs.
needs python3
mkdir -p tree/inside/deeper outside/deeper
for i in 1 2 3 4 5 6 7 8; do
  mkdir "tree/folder$i"
  echo 'own hit' | tee "tree/inside/deeper/$i" "tree/folder$i/file" >"tree/file$i"
  echo 'secret hit' | tee "outside/deeper/$i" >"outside/$i"
done
ln -s ../outside tree.link
ln -s ../outside/1 file.link
cat >swap.py <<'EOF'
import ctypes, os, sys
# Two names change places at once: renameat2() with RENAME_EXCHANGE.
libc = ctypes.CDLL(None, use_errno=True)
def swap(a, b):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
swap("tree/inside", "tree.link")
swap("tree/inside", "tree.link")
if len(sys.argv) > 1:
    while os.path.exists("go on"):
        for a, b in (("tree/inside", "tree.link"), ("tree/file1", "file.link")):
            swap(a, b)
            swap(a, b)
EOF
python3 swap.py || exit 77
touch 'go on'
python3 swap.py always &
backends=(cpu)
hemstitch search --backend webgpu x /dev/null >/dev/null 2>&1
[[ $? == 1 && -n ${HEMSTITCH_SEARCH_RUNS-} ]] && backends+=(webgpu)
for backend in "${backends[@]}"; do
  for ((run = 0; run < ${HEMSTITCH_SEARCH_RUNS:-60}; ++run)); do
    hemstitch search --backend "$backend" -r hit tree 2>>errors
  done | sed 's/.*://' | sort | uniq -c | sed 's/^ *[0-9]*/some/'
done | sort -u
rm 'go on'
wait
# What is swapped can be missing, and is passed over or told.
grep -vE 'tree/(inside.*|file1): (Not a directory|Too many levels of symbolic links|No such file or directory)$|XDG_RUNTIME_DIR' errors | sed 's/^/unexpected: /'
echo done
