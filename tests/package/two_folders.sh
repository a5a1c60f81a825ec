#!/usr/bin/env bash
# Some sources, and the man pages, built in two folders with names of other lengths, as a release is, at different times: the same bytes. Of all that a
# release has this looks at little; docs/packagers.md says how to build everything twice.
#
#   tests/package/two_folders.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CMAKE_CXX_COMPILER_LAUNCHER CMAKE_C_COMPILER_LAUNCHER  # a cache would give the same object twice
objects=(src/CMakeFiles/hemstitch_objects.dir/core/options.cpp.o src/CMakeFiles/hemstitch_objects.dir/format/identify.cpp.o)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
folders=(one another/folder/of/a/longer/name)
for folder in "${folders[@]}"; do
  mkdir -p "$work/$folder"
  git ls-files -z | tar --null --files-from=- -cf - | tar -C "$work/$folder" -xf -
  (
    cd "$work/$folder"
    cmake --preset release -DHEMSTITCH_WEBGPU=OFF -DCMAKE_INSTALL_PREFIX=/usr > /dev/null
    cmake --build build/release --target "${objects[@]}" man > /dev/null
  )
done
files=("${objects[@]}")
while IFS= read -r -d '' page; do files+=("$page"); done < <(cd "$work/one/build/release" && find . -maxdepth 1 -type f -name '*.1' -print0)
different=0
for file in "${files[@]}"; do
  cmp "$work/${folders[0]}/build/release/$file" "$work/${folders[1]}/build/release/$file" || different=1
done
((different == 0)) && printf '%s files are the same\n' "${#files[@]}"
