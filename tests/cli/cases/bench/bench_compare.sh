run() {
  local device=$1 rows
  shift
  rows=$(IFS=,; echo "$*")
  echo "{\"schema\": 1, \"device\": \"$device\", \"rows\": [$rows]}"
}
row() { echo "{\"what\": \"$1\", \"backend\": \"cpu\", \"level\": $2, \"file\": \"f\", \"gbps\": $3, \"ratio\": $4}"; }
run m "$(row compress 1 1.00 2.00)" "$(row restore 1 5 2.00)" "$(row compress 9 0.1 3)" >old
run m "$(row compress 1 0.96 1.95)" "$(row restore 1 9 2.20)" >good
run m "$(row compress 1 0.94 2.00)" "$(row restore 1 5 2.00)" >slower
run m "$(row compress 1 1.00 1.90)" "$(row restore 1 5 2.00)" >larger
run n "$(row compress 1 0.10 1.00)" >elsewhere
run m "$(row compress 2 1.00 2.00)" >apart
for new in old good slower larger elsewhere apart; do status_of hemstitch bench --compare old $new; done
echo '{"schema": 2}' >newer
echo 'no json' >broken
status_of hemstitch bench --compare old newer
hemstitch bench --compare old broken 2>&1 | grep -o '.*not a recorded run'
status_of hemstitch bench --compare old missing
# A real run holds against itself.
hemstitch bench --seconds 0 --json -1 old >self
hemstitch bench --compare self self | grep -o '3 rows compared, 0 over'
