#!/bin/bash
# Runs one case: run_case.sh cases/FOLDER/NAME.sh
#
# The script runs in an empty folder with the built tools first on PATH and the helpers of prelude.sh. What it prints
# must equal NAME.stdout and NAME.stderr, and it must return what NAME.exit says; a file that is not there means
# nothing printed, or 0. A script that needs something this machine lacks says so and exits 77: skipped.
# With --accept what the script does becomes what is expected: read the difference before committing it.
set -u
accept=
if [[ ${1-} == --accept ]]; then
  accept=yes
  shift
fi
case_script=$(realpath "$1")
expected=${case_script%.sh}
folder=$(dirname "$(realpath "$0")")
HEMSTITCH_SOURCE=$(realpath "$folder/../..")
export HEMSTITCH_SOURCE
export PATH=$HEMSTITCH_TOOLS:$PATH LC_ALL=C
unset HEMSTITCH_BACKEND HEMSTITCH_LEVEL HEMSTITCH_THREADS HEMSTITCH_FAKE HEMSTITCH_RUNS HEMSTITCH_PRETEND_TERMINAL
umask 022

work=$(mktemp -d)
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
mkdir "$work/here" "$work/seen"
export XDG_CACHE_HOME=$work/cache
(
  cd "$work/here" || exit 1
  # shellcheck source=tests/cli/prelude.sh
  source "$folder/prelude.sh"
  # shellcheck source=/dev/null
  source "$case_script"
) </dev/null >"$work/seen/stdout" 2>"$work/seen/stderr"
echo $? >"$work/seen/exit"
# What a build that counts lines says where it cannot write its counts.
sed -i '/^\(libgcov \)\?profiling/d' "$work/seen/stderr"

if [[ $(<"$work/seen/exit") == 77 ]]; then
  cat "$work/seen/stdout"
  exit 77
fi
wrong=0
for part in exit stdout stderr; do
  if [[ -n $accept ]]; then
    if [[ -s $work/seen/$part && $(<"$work/seen/$part") != 0 ]]; then
      cp "$work/seen/$part" "$expected.$part"
    else
      rm -f "$expected.$part"
    fi
    continue
  fi
  if [[ -e $expected.$part ]]; then
    want=$expected.$part
  else
    want=$work/nothing
    if [[ $part == exit ]]; then echo 0 >"$want"; else : >"$want"; fi
  fi
  if ! diff -u --label "expected $part" --label "seen $part" "$want" "$work/seen/$part"; then wrong=1; fi
done
exit $wrong
