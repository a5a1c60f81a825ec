# --memory holds, whatever a file or what it restores to holds; and what does not fit is told, and nothing else is left out.
# label: once
needs python3
# Runs a command, and says how it ended and whether it took at most so many megabytes; with sanitizers, which take some, nothing of that.
cat >within.py <<'EOF'
import os, resource, subprocess, sys
status = subprocess.run(sys.argv[2:], check=False).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
most = float(sys.argv[1])
print(f"exit {status}" + (f", and {peak:.0f} MB" if peak > most and not os.environ.get("HEMSTITCH_SANITIZE") else ""), flush=True)
EOF
within() { python3 within.py "$@"; }

# 400 MB of zeros, of lines that all match, of one line: 1.6 MB each.
bomb() { head -c 400000000 | hemstitch -q -c -B 4M; }
bomb </dev/zero >zeros
yes 'a line that matches' | bomb >lines
tr '\0' a </dev/zero | bomb >line
for memory in '' '--memory 20M'; do
  limit=300
  [[ -n $memory ]] && limit=45 # the program itself takes some
  # shellcheck disable=SC2086
  {
    within $limit hemstitch search $memory -z -c x zeros
    within $limit hemstitch search $memory -z -l '' zeros
    within $limit hemstitch search $memory -z -c matches lines
    within $limit hemstitch search $memory -z -m 3 -n -A 2 matches lines
    within $limit hemstitch search $memory -z -c a line
    within $limit hemstitch search $memory -z -c a - <line
  }
done
rm zeros lines line

# A line that is too long is told with its place, those beside it are shown.
{
  text 10
  head -c 30000000 /dev/zero | tr '\0' b
  printf '\nlast 5\n5'
} >long
hemstitch -q -c long >long.lz4
for way in '' '-T 1' '-z' '--json'; do
  # shellcheck disable=SC2086
  within 40 hemstitch search $way --memory 16M -n -B 1 5 long
done
within 40 hemstitch search -z --memory 16M -n -b 5 long.lz4 long
within 40 hemstitch search --memory 16M -v -c 5 long
within 40 hemstitch search --memory 16M -c 5 <long
within 120 hemstitch search --memory 64M -c 5 long
within 120 hemstitch search --memory 64M --json b long | wc -c
within 40 hemstitch search --memory 16M -B 1000000 zz long
# More lines before a match than there is room for are told as well.
text 2000000 >numbers
within 20 hemstitch search --memory 2M -B 1000000 -c 1999999 numbers
within 20 hemstitch search --memory 2M -B 1000000 -x 1999999 numbers | tail -n 3
# What is said of files waits for those before them: never more than there is room for.
mkdir tree
text 400000 >tree/a
for i in 1 2 3 4 5 6 7 8 9; do cp tree/a "tree/$i"; done
within 30 hemstitch search --memory 8M -n -b -r '' tree >seen
grep -n -b -r '' tree | sort | cmp - <(grep -v ^exit seen | sort)
tail -n 1 seen
# A frame that needs more to be restored.
hemstitch -q -B 4M -c numbers >blocks
status_of hemstitch search -z --memory 8M -c 7 blocks 2>&1
status_of hemstitch search -z --memory 32M -c 7 blocks
