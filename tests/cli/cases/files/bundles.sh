text 50000 >data
hemstitch -9k data -o nine.lz4
hemstitch -9 data -onine2.lz4
same nine.lz4 nine2.lz4
hemstitch -T2 -B64K data -o small.lz4
hemstitch -B4 -T 1 data --output=small2.lz4
same small.lz4 small2.lz4
for size in 4 5 6 7 64K 256K 1M 4M 65536 1m; do
  hemstitch -fB"$size" data
  hemstitch -lv data.lz4 | grep -o 'blocks of [0-9]*K'
done
cp data original
hemstitch -dcf data.lz4 | cmp - data
hemstitch -df data.lz4
same data original
hemstitch -fkq12 data -o twelve.lz4
hemstitch -f --best data -o best.lz4
hemstitch --level 12 data -o level.lz4
same twelve.lz4 best.lz4
same twelve.lz4 level.lz4
# Of several levels the last counts.
hemstitch -12 -9 data -o last.lz4
same last.lz4 nine.lz4
hemstitch --fast -9 data -o last2.lz4
same last2.lz4 nine.lz4
hemstitch -9 --fast=50 data -o fast.lz4
hemstitch --fast data -o fast1.lz4
hemstitch -1 data -o one.lz4
size() { stat -c %s "$1"; }
[[ $(size fast.lz4) -gt $(size fast1.lz4) && $(size fast1.lz4) -gt $(size one.lz4) ]] ||
  echo "--fast=50 $(size fast.lz4), --fast $(size fast1.lz4), -1 $(size one.lz4)"
# --fast and --check take no file for their value.
hemstitch --fast data -f
hemstitch --check data -f
