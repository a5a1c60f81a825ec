needs lz4 gzip
head -c 100 /dev/zero | tr '\0' x >same
printf 'no pattern' >odd
hemstitch same odd
hemstitch --check=content odd -o content.lz4
lz4 -qlc same >legacy.lz4
printf '\x50\x2a\x4d\x18\x03\x00\x00\x00abc' >skippable.lz4
cat same.lz4 skippable.lz4 content.lz4 >mixed.lz4
hemstitch -l odd.lz4
hemstitch -lv mixed.lz4 | awk '{ $3 = ""; $5 = ""; print }'
hemstitch -l odd.lz4 content.lz4 skippable.lz4
hemstitch -lv legacy.lz4 | grep -o 'legacy.*'
hemstitch -l <odd.lz4 | tail -n 1
cat odd.lz4 | hemstitch -l | tail -n 1
# The table goes on after what cannot be listed.
status_of hemstitch -l missing odd.lz4 same
# What gzip stores of the file.
printf text >"$(printf 'a\tname')"
touch -d '2001-09-09 01:46:40Z' a*name
gzip -nc a*name >unnamed.gz
gzip -N a*name
TZ=UTC hemstitch -lv a*name.gz | tail -n 1 | grep -o 'gzip.*'
hemstitch -lv unnamed.gz | tail -n 1 | grep -o 'gzip.*'
