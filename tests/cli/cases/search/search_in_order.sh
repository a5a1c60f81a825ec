# label: threads
# Files are searched by many threads, small ones many at a time and large ones by themselves, and told in the order of their names.
needs mkfifo
mkdir -p tree/b/inner tree/d
for name in tree/a tree/c tree/d/last; do echo 'one hit' >"$name"; done
for i in $(seq 1000 1100); do
  if ((i % 10 == 0)); then : >"tree/b/$i"; else printf 'no\nhit %s\n' "$i" >"tree/b/$i"; fi
done
for i in 1030 1077 1078; do
  text 50000 >"tree/b/$i" # 289 KB
  echo 'hit at the end' >>"tree/b/$i"
done
printf 'bin\0ary\nhit\n' >tree/b/1005
printf 'a hit\n' >tree/b/inner/1
mkfifo tree/pipe # in a folder it is left alone

hemstitch search -r hit tree >first 2>first.err
echo "exit $?"
cut -d: -f1 first >seen
find tree -type f -size +0 ! -name 1005 | LC_ALL=C sort >expected
same seen expected
cat first.err
for threads in 1 2 3 16; do
  hemstitch search -T "$threads" -r hit tree 2>/dev/null | cmp - first
done
hemstitch search --memory 512K -r hit tree 2>/dev/null | cmp - first
# A pipe among the arguments is read when it is its turn.
printf 'piped hit\n' >tree/pipe &
hemstitch search hit tree/a tree/pipe tree/b tree/missing tree/c
echo "exit $?"
wait
