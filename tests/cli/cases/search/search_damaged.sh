# What a damaged compressed file still gives is searched, and the damage told: small ones and large ones, alone and among others, from
# stdin, in little memory and on a device.
text 300000 >numbers
hemstitch -q -B 64K -c numbers >whole
size=$(stat -c %s whole)
mkdir logs
head -c $((size / 2)) whole >logs/cut
{
  head -c $((size / 2)) whole
  printf 'damage!!'
  tail -c +$((size / 2 + 9)) whole
} >logs/broken
{
  cat whole
  printf 'garbage\n'
} >logs/trailing
hemstitch -q -c <(text 500) >small
for kind in cut trailing; do
  if [[ $kind == cut ]]; then head -c -9 small; else cat small; echo garbage; fi >"logs/small_$kind"
done
cp whole logs/whole
cp numbers logs/plain

why() { sed -E 's/^hemstitch: ([^:]*): .*(checksum|missing|not a frame).*/\1: \2/'; }

# The lines before the damage: as many as lz4 or the tool itself restores.
for name in cut broken trailing small_cut small_trailing; do
  hemstitch -dcq "logs/$name" 2>/dev/null | grep -n 77 >expected
  for way in '' '-T 1' '--memory 2M'; do
    # shellcheck disable=SC2086
    hemstitch search $way -z -n 77 "logs/$name" 2>errors | cmp - expected
    echo "$name: exit ${PIPESTATUS[0]}, $(wc -l <expected) lines, $(why <errors)"
  done
  hemstitch search -z -n 77 <"logs/$name" 2>/dev/null | cmp - expected
done | sort | uniq -c

# Among others, in their order; nothing else is left out.
hemstitch search -z -r -c 77 logs 2>errors
echo "exit $?"
why <errors
hemstitch search -z -q 77 logs/cut logs/whole
echo "exit $?"
hemstitch search -z -s -c 77 logs/cut logs/whole
echo "exit $?"
hemstitch search --backend webgpu x /dev/null >/dev/null 2>&1
if [[ $? == 1 ]]; then
  hemstitch search -z -r -c 77 logs >expected 2>/dev/null
  hemstitch search --backend webgpu -z -r -c 77 logs 2>seen.errors | cmp - expected
  grep -v XDG_RUNTIME_DIR seen.errors | diff errors -
fi
