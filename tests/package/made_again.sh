#!/usr/bin/env bash
# Packages that were made once are made again, from the same build, by somebody with other habits: umask, time zone, locale, folder for temporary files (in memory; its
# group is inherited), options for archivers, settings of git. All files are the same, byte by byte.
#
#   tests/package/made_again.sh [ARGUMENT OF tools/package]...     those of the first time, which left its files in build/packages
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
temporary=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work" "$temporary"' EXIT
cp -r build/packages "$work/first"
chmod 2770 "$temporary"
cat > "$work/gitconfig" << 'SETTINGS'
[tar]
  umask = 0077
[core]
  autocrlf = true
[safe]
  directory = *
SETTINGS

(
  umask 077
  export TZ=Pacific/Kiritimati LC_ALL=POSIX TMPDIR=$temporary GIT_CONFIG_GLOBAL=$work/gitconfig HOME=$work
  export TAR_OPTIONS=--format=posix XZ_DEFAULTS=--memlimit=200MiB XZ_OPT=-1 GZIP=-1 DPKG_DEB_COMPRESSOR_LEVEL=1
  tools/package "$@" > "$work/output" 2>&1 || { cat "$work/output" >&2 && exit 1; }
)

# What is listed, and that nothing else is there.
rm -f build/packages/RELEASE "$work/first/RELEASE"
if ! diff --recursive --brief "$work/first" build/packages; then
  echo "made_again: the same build gave other files" >&2
  exit 1
fi
printf '%s files are the same\n' "$(find build/packages -type f | wc -l)"
