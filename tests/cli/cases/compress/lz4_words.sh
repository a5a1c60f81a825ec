# What users of lz4 type.
needs lz4
text 20000 >data
text 10000 >other
blocks() { hemstitch -lv "$1" | grep -oE '(linked|independent) blocks of [0-9]+K'; }
# -m: each file has an output of its own anyway.
hemstitch -m data other
hemstitch -dmc data.lz4 other.lz4 | cmp - <(cat data other)
hemstitch --multiple -f data
# -z: as without, and files with the suffix too.
hemstitch -zf data
hemstitch -zm9 data.lz4
hemstitch -dc data.lz4.lz4 | cmp - data.lz4
hemstitch --compress -c data | cmp - data.lz4
# -BD, -BI, -BX, also with a size, several, and other options behind them.
for words in -BD -B4D -B64KD -BD4 -BDX '-B4 -BD' -B5DX -9BD -BDk9 -BI '-BD -BI' -BI7 '-B6I' '-BX'; do
  # shellcheck disable=SC2086
  hemstitch -f $words data
  echo "$words: $(blocks data.lz4)"
  lz4 -dqc data.lz4 | cmp - data
done
hemstitch --linked data -o long.lz4
hemstitch -fBD data
same data.lz4 long.lz4
HEMSTITCH_LEVEL=9 hemstitch -fmzBD data
hemstitch -9 --linked data -o nine.lz4
same data.lz4 nine.lz4
hemstitch --check=content -BX data -o content.lz4
hemstitch -l content.lz4 | grep -o 'block+content'
# The last one counts: -BDk9 has a level behind.
hemstitch -BDk9 data -o bundle.lz4
same bundle.lz4 nine.lz4
status_of hemstitch -BI --linked data
status_of hemstitch -BX --no-check data
status_of hemstitch -B4G data
status_of hemstitch -BD9 data
status_of hemstitch -BK data
status_of hemstitch bench -BD data
status_of hemstitch -dz data.lz4
status_of hemstitch -zl data.lz4
# lz4's second word is the output: that is an error which says so, and nothing is written.
status_of hemstitch data new.lz4
status_of hemstitch -d data.lz4 new
ls new* 2>/dev/null || true
status_of hemstitch -t data.lz4 new
status_of hemstitch data new
