# -dcf copies what is not compressed, as gzip -dcf (zcat -f) does: the whole input, or what follows the last member. From files and pipes.
needs gzip bgzip lz4
text 100000 >lines
gzip -k lines
bgzip -c lines >lines.bgz
head -c 600000 /dev/urandom | base64 >noise
gzip -k1 noise
{ cat noise.gz lines.gz; } >members
tail_of() {
  case $1 in
    nothing) ;;
    byte) printf x ;;
    line) printf '\n' ;;
    three) printf xyz ;;
    text) echo 'appended later' ;;
    long) cat noise lines ;;
    zeros) head -c 9000 /dev/zero && echo appended ;;
    member) echo between && cat lines.gz ;;
    lz4) lz4 -qc lines ;;
  esac
}
for before in lines.gz lines.bgz members lines; do
  for after in nothing byte line three text long zeros member lz4; do
    { cat $before; tail_of $after; } >mixed
    gzip -dcf <mixed >theirs
    hemstitch -dcf mixed >file || echo "$before, $after: exit $?"
    hemstitch -dcf -T3 < <(cat mixed) >pipe || echo "$before, $after from a pipe: exit $?"
    cmp theirs file && cmp theirs pipe || echo "of $before, $after"
  done
done
# Without -f, or with a format that is named, what follows is not content; nor where the output is a file.
{ cat lines.gz; echo later; } >mixed.gz
status_of hemstitch -qdc mixed.gz | cmp - <(text 100000; echo 'exit 2')
status_of hemstitch -qdcf --format gzip mixed.gz | cmp - <(text 100000; echo 'exit 2')
status_of hemstitch -qdfk mixed.gz
cmp mixed lines
# The sums count what was copied.
hemstitch -dcfv mixed.gz 2>&1 >/dev/null | grep -o '[0-9]* -> [0-9]*' |
  cmp - <(echo "$(stat -c %s mixed.gz) -> $(($(stat -c %s lines) + 6))")
# LZ4 in the same way, and the zeros behind a legacy frame stay padding.
{ lz4 -qc lines; echo later; } | hemstitch -dcf | cmp - <(cat lines; echo later)
{ lz4 -qlc lines; head -c 1000 /dev/zero; } | hemstitch -dcf | cmp - lines
