# Paths longer than the system takes in one call, trees deeper than a small stack, and more folders than descriptors.
needs python3
cat >make.py <<'PY'
import os, sys
def descend(count, name):
    top = os.open(".", os.O_RDONLY)
    for level in range(count):
        os.mkdir(name)
        os.chdir(name)
        if level % 10 == 9:
            with open("file", "w") as file: file.write(f"level {level}\n")
    os.fchdir(top)
os.mkdir("long"); os.chdir("long"); descend(60, "f" * 200)
os.chdir(".."); os.mkdir("deep"); os.chdir("deep"); descend(1000, "d")
PY
python3 make.py
count() { find "$1" -name "$2" | wc -l; }
hemstitch -r long
count long file.lz4
find long -name file -delete
hemstitch -d -r --rm long
count long file
count long file.lz4
hemstitch -tr long
find long -name file -execdir cat {} \; | sort | tail -n 1

# Named on the command line.
path=long
for ((i = 0; i < 60; ++i)); do path+=/$(printf 'f%.0s' {1..200}); done
hemstitch -c "$path/file" | hemstitch -d
hemstitch "$path/file" -o "$path//other"
hemstitch -dc "$path//other"
hemstitch -d "$path/missing" 2>&1 | sed -E 's|[f/]{9,}|.|g' # so long a name is shortened

(ulimit -s 128 -n 256; hemstitch -r deep; echo "exit $?")
count deep file.lz4

# Wide: with few descriptors, every folder is opened anew.
mkdir wide
for ((i = 0; i < 15; ++i)); do mkdir -p wide/$i/{0..19}/in; done
for folder in wide/*/*/in; do echo "$folder" >"$folder/file"; done
(ulimit -n 40; hemstitch -rT2 wide && hemstitch -rT2 -f wide && hemstitch -qtr wide; echo "exit $?")
count wide file.lz4
cp -r wide before
find wide -name file -delete
(ulimit -n 40; hemstitch -drT2 --rm wide; echo "exit $?")
find before -name file.lz4 -delete
diff -r before wide && echo 'wide: as it was'
