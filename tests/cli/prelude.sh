# Helpers for the cases. Sourced.
# shellcheck shell=bash

# Text of COUNT lines, the same every time; about 6.9 MB for a million.
text() { seq 1 "$1"; }

# COUNT lines of numbers that repeat nothing, the same every time; about 10 bytes each.
noise() { awk -v count="$1" 'BEGIN { for (x = 1; count > 0; --count) { x = (x * 16807) % 2147483647; print x } }'; }

# Skips the case where a command that it needs is not there.
needs() {
  local tool
  for tool in "$@"; do
    if ! type "$tool" >/dev/null 2>&1; then
      echo "skipped: no $tool here"
      exit 77
    fi
  done
}

# Runs a command and tells its exit status, so that one script can show several.
status_of() {
  "$@"
  echo "exit $?"
}

same() {
  if cmp "$1" "$2"; then echo "same: $1 $2"; fi
}

# Every name in this folder, hidden ones too, in one line.
names() { find . -mindepth 1 -printf '%P\n' | sort | tr '\n' ' ' && echo; }

# Waits until a file with hidden temporary name has appeared.
await_temporary() {
  local tries
  for ((tries = 0; tries < 500; ++tries)); do
    compgen -G '.hemstitch-*' >/dev/null && return
    sleep 0.01
  done
  echo 'no temporary file appeared'
}

# Runs a command with tests/cli/watch_calls.cpp in it, which its variables tell what to do.
watched() { LD_PRELOAD=$HEMSTITCH_WATCH_LIBRARY "$@"; }

needs_watching() {
  [[ -z $HEMSTITCH_SANITIZE ]] || { echo 'skipped: sanitizers want to be loaded first'; exit 77; }
}
