# Root at work in a stranger's folder: what stands elsewhere keeps its bytes, owner and mode, whatever links the stranger left.
needs setpriv
[[ $EUID == 0 ]] || { echo 'skipped: only root can become nobody'; exit 77; }
chmod 755 . ..
stranger() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
facts() { stat -c '%n %i %s %a %u:%g' "$@"; }
mkdir elsewhere theirs
chmod 777 theirs
for name in secret key password; do echo "my own $name" >elsewhere/$name; done
chmod 600 elsewhere/secret
chmod 640 elsewhere/key
chown 1:1 elsewhere/key
mkdir elsewhere/folder
(facts elsewhere elsewhere/* && cat elsewhere/key elsewhere/secret elsewhere/password) >before

# Compressed files whose outputs would stand where links lead elsewhere; and links as inputs, as folders, as outputs of outputs.
cd theirs || exit
for name in a b c d e; do
  echo "from a stranger: $name" | stranger hemstitch -o $name.lz4
  echo "plain $name" | stranger tee plain_$name >/dev/null
done
elsewhere=$(realpath ../elsewhere)
stranger ln -s "$elsewhere/secret" a
stranger ln -s ../elsewhere/key b
stranger ln -s "$elsewhere/new" c
stranger ln -s "$elsewhere/folder" d
stranger ln -s e.lz4 e
stranger ln -s "$elsewhere/secret" plain_a.lz4
stranger ln -s "$elsewhere/new" plain_b.lz4
stranger ln -s "$elsewhere" plain_c.lz4
stranger ln -s /dev/full plain_d.lz4
stranger mkfifo plain_e.lz4
stranger ln -s "$elsewhere/secret" input
stranger ln -s "$elsewhere" sub
cd ..
status_of hemstitch -d -r -f theirs
status_of timeout 20 hemstitch -r -f theirs
(facts elsewhere elsewhere/* && cat elsewhere/key elsewhere/secret elsewhere/password) | cmp - before
stat -c '%A %u:%g %n' theirs/*
tail -qn 1 theirs/[a-e]
hemstitch -dcq theirs/plain_[a-d].lz4

# What runs as somebody else does not begin to do so: not as an output, and not in a stranger's hands.
echo program >elsewhere/program
cp elsewhere/program mine
chown 65534:65534 elsewhere/program
chmod 6755 elsewhere/program mine
chmod +t mine
hemstitch elsewhere/program mine
hemstitch -d elsewhere/program.lz4 -o restored
stat -c '%A %u:%g %n' elsewhere/program.lz4 mine.lz4 restored
