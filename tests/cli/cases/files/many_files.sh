for name in a b c d; do echo $name >$name; done
echo taken >b.lz4
hemstitch a b missing c d
echo "exit $?"
names
printf 'no frame' >c.lz4
rm a b c d
hemstitch -d a.lz4 b.lz4 c.lz4 d.lz4
echo "exit $?"
names
cat a d
# An error outweighs a warning, and -q says what went wrong and no more.
printf garbage >>a.lz4
hemstitch -tq a.lz4 c.lz4
