# What -r passes over: outputs that hold all of their sources, as they are now.
make() {
  rm -rf top
  mkdir top
  for name in a b; do text 100000 >top/$name; done
}
try() { status_of hemstitch -r "$@" top; }
make
try
try
echo '== a change of the same size, with the time that the file had'
make
touch -d '2001-02-03 04:05:06' top/a
hemstitch -rq top
text 100000 | tr 0 1 >top/a
touch -d '2001-02-03 04:05:06' top/a
try
echo '== within the same second'
make
touch -d "@$(date +%s)" top/a
hemstitch -rq top
text 100000 | tr 0 1 >top/a
try
echo '== outputs that are not whole, though their time is right'
make
hemstitch -rq top
truncate -s -4 top/a.lz4 # the end mark
touch -r top/a top/a.lz4
truncate -s 100000 top/b.lz4
touch -r top/b top/b.lz4
try
make
hemstitch -rq top
echo garbage >>top/a.lz4
touch -r top/a top/a.lz4
echo 'no frame' >top/b.lz4
touch -r top/b top/b.lz4
try
echo '== or that hold more, or are links'
make
hemstitch -rq top
cp top/b.lz4 more
cat more >>top/a.lz4
touch -r top/a top/a.lz4
mv top/b.lz4 elsewhere
ln -s ../elsewhere top/b.lz4
try
echo '== sizes that are not in the header'
make
for name in a b; do
  hemstitch -B64K <top/$name >top/$name.lz4
  touch -r top/$name top/$name.lz4
done
head -c 5000 /dev/zero | hemstitch >top/b.lz4
touch -r top/b top/b.lz4
: >top/empty
hemstitch -r top/empty
try
echo '== the way back'
make
hemstitch -rq --rm top
hemstitch -dr top
hemstitch -dr top
truncate -s 1000 top/a
touch -r top/a.lz4 top/a
text 100000 | tr 0 1 >other
hemstitch -c other >top/b.lz4
touch -r top/b top/b.lz4
try -d
echo '== --rm after a run that was interrupted'
make
hemstitch -q top/a
try --rm
names
hemstitch -dqr top
hemstitch -dr --rm top
names
echo '== with a dictionary'
text 5000 >dictionary
hemstitch -rq -D dictionary top
try --rm
try --rm -D dictionary
echo '== outputs that hold something else'
make
hemstitch -rq top
hemstitch -c other >top/a.lz4
touch -r top/a top/a.lz4
printf X | dd of=top/b.lz4 bs=1 seek=1000 conv=notrunc status=none
touch -r top/b top/b.lz4
try
try --rm
try --rm -q
names
make
hemstitch -rq --rm top
hemstitch -rdq top
text 100000 | tr 0 1 >top/a
touch -r top/a.lz4 top/a
echo garbage >>top/b.lz4
touch -r top/b top/b.lz4
sleep 0.05
touch -r top/b top/b # later
try -d --rm
names
