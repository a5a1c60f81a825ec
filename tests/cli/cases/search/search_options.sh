# What of grep's options random command lines against it (interop.search_like_grep) do not show: a terminal, the place in stdin, a file
# that is searched and written at once, links, folders and special files under -r and -R.
needs python3 mkfifo timeout
export TERM=xterm
mkdir -p tree/sub
printf 'one hit\nnone\ntwo hit\n' >tree/a
printf 'hit in b\n' >tree/b
cp tree/a tree/sub/c

# In colour on a terminal alone, unless asked.
HEMSTITCH_PRETEND_TERMINAL=stdout hemstitch search -n hit tree/a | cat -A
HEMSTITCH_PRETEND_TERMINAL=stdout TERM=dumb hemstitch search hit tree/a
HEMSTITCH_PRETEND_TERMINAL=stdout hemstitch search --color=never hit tree/a
HEMSTITCH_PRETEND_TERMINAL=stdout hemstitch search --json hit tree/b
hemstitch search hit tree/b
GREP_COLORS='mt=4' hemstitch search --color=always hit tree/b | cat -A
GREP_COLORS='mt=4:=7:mt=5' hemstitch search --color=always hit tree/b | cat -A # up to the error

# Who reads on behind -m finds what follows the last line.
(
  hemstitch search -m 1 -A 1 hit
  echo "then:"
  cat
) <tree/a

# What is written is not searched; others are.
hemstitch search hit tree/a tree/out tree/b >>tree/out
echo "exit $?"
hemstitch search -r hit tree >>tree/out
echo "exit $?"
hemstitch search hit <tree/out >>tree/out
echo "exit $?"
sort tree/out
hemstitch search -c hit tree/out >>tree/out && hemstitch search -s -q hit tree/out >>tree/out
echo "exit $?"
rm tree/out

# Links inside are followed with -R alone, and not in a circle; nobody waits for a pipe that is not an argument.
ln -s ../.. tree/sub/up
ln -s ../b tree/sub/link
ln -s nowhere tree/sub/lost
mkfifo tree/pipe
for options in '-r' '-R' '-R -s' '-r -R' '-R -r' '-R --exclude=lost --exclude-dir=up'; do
  # shellcheck disable=SC2086
  status_of timeout 10 hemstitch search $options -c hit tree
done
status_of timeout 10 hemstitch search -r -l hit tree/sub/link tree/sub/up --include='[ac]'
rm tree/pipe

# A folder that is as deep as none can be named at once.
python3 - <<'EOF'
import os
for _ in range(40):
    os.mkdir("deep" * 30)
    os.chdir("deep" * 30)
open("file", "w").write("a deep hit\n")
EOF
hemstitch search -r -h hit deep*
HEMSTITCH_BACKEND=cpu hemstitch search -rc -h hit deep*

# Patterns from files, which may be stdin; then what is searched is named.
printf 'in b\nnone' >patterns
hemstitch search -f patterns tree/a tree/b
printf 'two\n' | hemstitch search -f - -f patterns -c tree/a
for file in /dev/null patterns; do
  for options in -c -vc -wxc; do status_of hemstitch search "$options" -f "$file" tree/a; done
done
# A hundred thousand of them are no burden, also where they have the same beginning.
seq 1 3 20000 >numbers
seq 10000 109999 >many
sed 's/^/00000000/' many >same_beginning
timeout 60 hemstitch search -c -f many -f same_beginning numbers
# Lines that end with a zero byte, names for stdin, binary files.
printf 'a\nhit\0none\0hit too' >zeros
hemstitch search --null-data -n hit zeros | cat -A
hemstitch search --null-data -o -b --label=name -H hit <zeros | cat -A
printf 'a\nno\0pattern' >patterns
status_of hemstitch search --null-data -c -f patterns zeros
hemstitch search --label=name hit <zeros
hemstitch search --binary-files=text -c hit zeros
status_of hemstitch search --binary-files=without-match -c hit zeros
hemstitch search -n -1 two tree/a
# What -z cannot look into is named; the exit status stays, since a text may begin so.
printf 'BZh hit\n' >begins_so
printf '\3757zXZ\0rest' >a.xz
status_of hemstitch search -z hit begins_so a.xz
status_of hemstitch search -zs hit a.xz
status_of hemstitch search hit a.xz
status_of hemstitch search -z hit <a.xz
