needs lz4
text 10000 >dictionary
text 9000 | tail -n 3000 >data
hemstitch -D dictionary data
hemstitch data -o plain.lz4
[[ $(stat -c %s data.lz4) -lt $(stat -c %s plain.lz4) ]] || echo 'the dictionary does not help'
hemstitch -dcD dictionary data.lz4 | cmp - data
lz4 -dqc -D dictionary data.lz4 | cmp - data
lz4 -qc -D dictionary data | hemstitch -d --dictionary=dictionary | cmp - data
# Without it the data cannot be restored, and nothing is written. Its id is written in one way.
hemstitch -d data.lz4 -o out 2>needed
echo "exit $?"
id=$(grep -o '0x[0-9a-f]*' needed)
hemstitch -lv data.lz4 | grep -o "dictionary $id\$" | wc -l
# It is told without -v as well, once for each.
hemstitch -l data.lz4 plain.lz4 | sed "s/$id/ID/" | awk 'NR > 1 { $3 = $5 = ""; print }'
cat data.lz4 data.lz4 plain.lz4 | hemstitch -l | grep -o "stdin (dictionary $id)\$" | wc -l
{ cat data.lz4; text 10 | hemstitch -D plain.lz4; } | hemstitch -l | grep -o "stdin (dictionaries $id, 0x[0-9a-f]*)\$" | wc -l
rm needed
hemstitch -D missing data
echo "exit $?"
names
: >nothing
hemstitch -D nothing data
echo "exit $?"
# Only the end of a dictionary is within reach, so its end alone restores.
{ head -c 100000 /dev/zero; cat dictionary dictionary; } >large
hemstitch -f -D large data
hemstitch -dc -D <(tail -c 65536 large) data.lz4 | cmp - data
