# Complete and correct output exits 0, and what had to be redone is told.
text 400000 >data
one() { hemstitch-fake -T1 -B64K --backend fake "$@"; }
HEMSTITCH_FAKE='fail=2' one data
echo "exit $?"
hemstitch -dc data.lz4 | cmp - data
HEMSTITCH_FAKE='fail=2' one -fq data
HEMSTITCH_FAKE='lost=2' one -f data 2>stderr
echo "exit $?"
sed -E 's/^(hemstitch: data: )[0-9]+ of [0-9]+/\1N of N/' stderr
hemstitch -dc data.lz4 | cmp - data
HEMSTITCH_FAKE='oom=1' one -dc data.lz4 2>stderr | cmp - data
sed -E 's/^(hemstitch: data.lz4: )[0-9]+ of [0-9]+/\1N of N/' stderr
# Wrong bytes are seen where blocks are verified; without -q that is told once.
HEMSTITCH_FAKE='wrong=3' one -f --verify data 2>stderr
echo "exit $?"
cat stderr
hemstitch -dc data.lz4 | cmp - data
HEMSTITCH_FAKE='wrong=3' one -fq --verify data
HEMSTITCH_FAKE='wrong=3' one -f data
hemstitch -dc data.lz4 | cmp -s - data || echo "not verified, not seen"
