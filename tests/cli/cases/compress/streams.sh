# Frames whose blocks cannot be told apart, of a format that only the tests have: restored, tested, listed, in part, searched.
export HEMSTITCH_RUNS=1
head -c 200000 /dev/zero | tr '\0' x >content
echo 'a line to find' >>content
hemstitch-fake --format runs -B64K --linked content -o stream.runs
hemstitch-fake --format runs -B64K content -o blocks.runs
cat blocks.runs stream.runs stream.runs >both.runs
for file in stream blocks both; do
  hemstitch-fake -tv $file.runs 2>&1 | sed 's/, [0-9]* thread.*//'
  hemstitch-fake -dc $file.runs | sha256sum
done
cat content content content | sha256sum
hemstitch-fake -lv stream.runs both.runs
hemstitch-fake -l --json stream.runs
hemstitch-fake -dc --range -15 both.runs
hemstitch-fake -dc --range 200000-200006 stream.runs && echo
head -c -10 stream.runs >cut.runs
status_of hemstitch-fake -t cut.runs
status_of hemstitch-fake -l cut.runs
hemstitch-fake search -z -c find stream.runs
# If `cpu` does not know the format, it says who does, and `auto` takes another; so do searches, which restore texts by cpu.
export HEMSTITCH_RUNS=reference
status_of hemstitch-fake -t --backend cpu stream.runs
status_of hemstitch-fake search -z find stream.runs
for file in stream blocks; do
  HEMSTITCH_FAKE='inner=reference auto' hemstitch-fake -tv $file.runs 2>&1 | sed 's/, [0-9]* thread.*//'
done
export HEMSTITCH_RUNS=1
# Small ones of a tree go in batches, but streams go alone.
mkdir tree
cp stream.runs blocks.runs tree
hemstitch-fake -dqr --format runs tree && sha256sum tree/stream tree/blocks
