# A tree of everything that is no plain file, and of names of every byte, under another user: files are taken, the rest is told and left as
# it is. HEMSTITCH_TREE_FILES says how many plain files there are besides; 500 by default.
needs setpriv python3 timeout
[[ $EUID == 0 ]] || { echo 'skipped: only root can become nobody'; exit 77; }
chmod 755 . ..
cat >make.py <<'PY'
import os, socket, sys
count = int(sys.argv[1])
os.mkdir("tree"); os.chdir("tree")
for part in ("many", "bytes", "others", "closed", "listed_only", "hard"): os.mkdir(part)
for i in range(count): open(f"many/{i}", "w").write(f"{i}\n" * (i % 50))
for byte in range(1, 256):
    if byte != ord("/"): open(b"bytes/n" + bytes([byte]), "wb").write(bytes([byte]))
os.makedirs(b"bytes/\xff\n\x1b[31m/-r"); open(b"bytes/\xff\n\x1b[31m/-r/--rm", "w").write("odd\n")
open("hard/a", "w").write("hard\n"); os.link("hard/a", "hard/b")
os.mkfifo("others/fifo")
socket.socket(socket.AF_UNIX).bind("others/socket")
try: os.mknod("others/device", 0o20666, os.makedev(1, 5))  # /dev/zero
except OSError: os.mkfifo("others/device")
for name, to in (("to_file", "../hard/a"), ("to_folder", "../many"), ("to_itself", "to_itself"), ("to_nothing", "nowhere"),
                 ("to_root", "/"), ("up", "../..")):
    os.symlink(to, "others/" + name)
open("closed/file", "w").write("x\n"); open("listed_only/file", "w").write("y\n")
open("unreadable", "w").write("z\n")
for folder, _, files in os.walk(b"."):
    os.lchown(folder, 65534, 65534)
    for file in files: os.lchown(os.path.join(folder, file), 65534, 65534)
os.chown("unreadable", 0, 0); os.chmod("unreadable", 0o600)
os.chmod("closed", 0); os.chmod("listed_only", 0o444)
PY
python3 make.py "${HEMSTITCH_TREE_FILES:-500}"
nobody() { timeout 100 setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
plain_files() { (cd tree && find . -type f ! -name unreadable -exec sha256sum {} + | sort); }
plain_files >before
others() { find tree ! -type f ! -type d -printf '%p %y %l %i %m\n' | sort; }
others >others_before
# Nobody may write a sanitized build's counts of lines.
said() { sed "/^profiling:/d; s/[0-9]* of [0-9]* failed/some failed/; s/\b$((${HEMSTITCH_TREE_FILES:-500} + 259)) \|$((${HEMSTITCH_TREE_FILES:-500} + 268)) /all /g"; }

nobody hemstitch -r tree 2>&1 | said
nobody hemstitch -tr tree 2>&1 | said | tail -n 2
echo "$(($(find tree -name '*.lz4' -printf x | wc -c) - ${HEMSTITCH_TREE_FILES:-500})) more than the plain ones"
find tree -name '.hemstitch-*'
find tree -type f ! -name '*.lz4' ! -name unreadable ! -path '*/listed_only/*' ! -path '*/closed/*' -delete
nobody hemstitch -dr --rm tree 2>&1 | said
others | cmp - others_before
plain_files | cmp - before && echo 'as it was'
