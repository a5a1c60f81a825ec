# label: once
# --memory bounds what a run takes, and what it cannot do with so little is refused before it begins.
needs python3
[[ -z $HEMSTITCH_SANITIZE ]] || { echo 'skipped: sanitizers take memory of their own'; exit 77; }
text 6000000 >data
python3 - <<'END'
import os

def peak_of(*words):
    """What the command takes at most, in MB."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        os.execvp("hemstitch", ["hemstitch", *words])
    _, status, usage = os.wait4(child, 0)
    assert status == 0, words
    return usage.ru_maxrss / 1024

base = peak_of("-V")
for words in (("-f", "-B4M", "-T4", "data"), ("-dc", "-T4", "data.lz4")):
    free, bound = peak_of(*words), peak_of(*words, "--memory", "24M")
    print(words[0], "takes more than 24 MB unless it is told" if free > base + 24 else f"takes {free:.0f} MB at most",
          "and no more then" if bound <= base + 24 else f"and {bound:.0f} MB, {base:.0f} before it begins")
END
hemstitch -dc --memory 64M data.lz4 | cmp - data
hemstitch -f --memory 1K data 2>stderr
echo "exit $?"
sed -E 's/[0-9]{4,}/N/g' stderr
