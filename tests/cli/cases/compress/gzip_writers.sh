# label: threads
# One stream of whoever writes gzip, restored by several threads, by two, and from a pipe 32 KB at a time: what gzip -d makes of it. With HEMSTITCH_GZIP_MEMBERS so
# many small members, a million before a release.
needs gzip pigz igzip zopfli 7zz
# Lines that repeat some, random bytes, and streams with true headers inside.
{ text 150000 | awk '{ print $1, $1 % 977, "line " $1 * 7919 % 10007 }'; noise 90000; } >data
gzip -k1c data >inner.gz
{ cat inner.gz data; gzip -6c data; head -c 2000000 /dev/zero; tail -c 1000000 data; } >mixed
check() {
  gzip -dc "$1" | cmp - "$2" || echo "gzip on $1"
  local threads
  for threads in 2 4; do hemstitch -dc -T $threads --backend cpu "$1" | cmp - "$2" || echo "$1 by $threads threads"; done
  dd if="$1" bs=32K status=none | hemstitch -dc -T 4 --backend cpu | cmp - "$2" || echo "$1 from a pipe"
}
gzip -6c mixed >gzip.gz && check gzip.gz mixed
gzip -9c data >gzip9.gz && check gzip9.gz data
pigz -6 -p 2 -c mixed >pigz.gz && check pigz.gz mixed
pigz -i -p 2 -c mixed >pigz_i.gz && check pigz_i.gz mixed
pigz -0 -p 2 -c mixed >pigz_0.gz && check pigz_0.gz mixed
igzip -0 -c data >igzip0.gz && check igzip0.gz data
igzip -3 -c mixed >igzip3.gz && check igzip3.gz mixed
levels=(1 6 12)
if [[ ${HEMSTITCH_SANITIZE-} == thread ]]; then levels=(6); fi
for level in "${levels[@]}"; do hemstitch -z --format gzip -$level -c mixed >own.gz && check own.gz mixed; done
head -c 150000 mixed >short
zopfli --i1 -c short >zopfli.gz
cat zopfli.gz zopfli.gz zopfli.gz >three.gz && cat short short short >three && check three.gz three
7zz a -tgzip -mx=5 seven.gz data >/dev/null && check seven.gz data
# A .gz in a .tar in a .gz.
tar --format=ustar -cf - gzip.gz inner.gz pigz.gz >archive.tar && gzip -c archive.tar >archive.gz && check archive.gz archive.tar
# Small members, empty ones among them, and what follows the last.
printf 'a line\n' | gzip -c >one.gz
: | gzip -c >none.gz
cat one.gz one.gz none.gz one.gz >some.gz
# Sanitizers take a millisecond for each.
members=20000
if [[ -n ${HEMSTITCH_SANITIZE-} ]]; then members=4000; fi
members=${HEMSTITCH_GZIP_MEMBERS-$members}
python3 - "$members" <<'MEMBERS'
import sys
members = open('some.gz', 'rb').read()
with open('many.gz', 'wb') as many:
    for _ in range(int(sys.argv[1]) // 4):
        many.write(members)
MEMBERS
for threads in 1 2 4; do
  hemstitch -dc -T $threads --backend cpu many.gz | wc -l | grep -qx $((members / 4 * 3)) || echo "members by $threads threads"
done
# The scripts that containerd calls, as it feeds them.
for script in igzip unpigz; do
  ln -sf "$HEMSTITCH_SOURCE/cli/libexec/igzip" $script
  dd if=gzip.gz bs=32K status=none | ./$script -d -c | cmp - mixed || echo $script
done
# Cut off anywhere: as much as one thread gives, and the same words.
for bytes in 9 1000001 1900003; do
  head -c $bytes gzip.gz >cut.gz
  for threads in 1 2 4; do
    hemstitch -dc -T $threads --backend cpu cut.gz >content.$threads 2>words.$threads
    echo "exit $?" >>words.$threads
    cmp content.1 content.$threads
    diff words.1 words.$threads
  done
done
