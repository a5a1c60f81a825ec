#!/usr/bin/env bash
# Installs a build into a folder of its own and uses it as a stranger would: the examples by CMake and by pkg-config,
# the tool, the man page, components that do not exist, exported symbols, moving the folder, uninstalling.
#
#   installed_package.sh SOURCE_FOLDER BUILD_FOLDER [CUDA_TOOLKIT]      with it, the CUDA examples as well
set -euo pipefail
source_folder=$1
build_folder=$2
cuda_toolkit=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# What notes the installation is put back, so that a real one from this build can still be undone.
notes=(install_manifest.txt install_folders.txt)
put_back() {
  local note
  for note in "${notes[@]}"; do
    rm -f "$build_folder/$note"
    if [[ -e $work/$note ]]; then mv "$work/$note" "$build_folder/$note"; fi
  done
  rm -rf "$work"
}
for note in "${notes[@]}"; do
  if [[ -e $build_folder/$note ]]; then mv "$build_folder/$note" "$work/$note"; fi
done
trap put_back EXIT

install_into() { cmake --install "$build_folder" --prefix "$1" > "$work/install.log" || fail "install: $(cat "$work/install.log")"; }
uninstall() { cmake --build "$build_folder" --target uninstall > "$work/uninstall.log" || fail "$(cat "$work/uninstall.log")"; }

echo "uninstall leaves nothing, also after a second installation over the first"
install_into "$work/first"
install_into "$work/first"
cp -a "$work/first" "$work/moved"
uninstall
[[ ! -e $work/first ]] || fail "uninstall left: $(find "$work/first")"

echo "uninstall leaves what others put there, and folders that were there before"
mkdir -p "$work/shared/share/zsh/site-functions"
install_into "$work/shared"
touch "$work/shared/bin/other" "$work/shared/share/doc/hemstitch/.other"
uninstall
left=$(cd "$work/shared" && find . | sort | tr '\n' ' ')
[[ $left == '. ./bin ./bin/other ./share ./share/doc ./share/doc/hemstitch ./share/doc/hemstitch/.other ./share/zsh ./share/zsh/site-functions ' ]] ||
  fail "uninstall left: $left"

echo "uninstall works where a package is staged"
export DESTDIR=$work/staged
install_into /usr
[[ -s $DESTDIR/usr/bin/hemstitch ]] || fail "nothing was staged"
uninstall
[[ -z $(find "$DESTDIR" -mindepth 1) ]] || fail "uninstall left: $(find "$DESTDIR")"
unset DESTDIR

# From here on the package is used where it was moved to, not where it was installed.
prefix=$work/moved
library_folder=$(dirname "$(find "$prefix" -name libhemstitch.a)")
export PKG_CONFIG_PATH=$library_folder/pkgconfig
export LD_LIBRARY_PATH=$library_folder

echo "files are where they belong"
for file in bin/hemstitch include/hemstitch/hemstitch.h include/hemstitch/hemstitch.hpp include/hemstitch/version.h \
  share/doc/hemstitch/LICENSE share/doc/hemstitch/README.md share/doc/hemstitch/docs/index.md share/doc/hemstitch/docs/formats/lz4.md \
  share/doc/hemstitch/examples/c/round_trip.c share/bash-completion/completions/hemstitch share/zsh/site-functions/_hemstitch \
  share/fish/vendor_completions.d/hemstitch.fish; do
  [[ -s $prefix/$file ]] || fail "$file was not installed"
done
if command -v lowdown > /dev/null; then
  for page in hemstitch nbdkit-hemstitch-plugin; do
    if [[ $page == hemstitch || -n $(find "$prefix" -name "$page.so") ]]; then
      grep -q '^\.TH ' "$prefix/share/man/man1/$page.1" || fail "the man page of $page is not one"
    fi
  done
fi

echo "one description everywhere"
summary=$(sed -n 's/^Description: //p' "$library_folder/pkgconfig/hemstitch.pc")
[[ -n $summary ]] || fail "the pkg-config file has no description"
for file in README.md docs/man/hemstitch.1.md pyproject.toml; do
  grep -q -F "$summary" "$source_folder/$file" || fail "$file does not describe it as '$summary'"
done

echo "what is installed is hardened"
for file in "$prefix/bin/hemstitch" "$library_folder"/libhemstitch.so; do
  readelf -hldW "$file" > "$work/elf" || fail "readelf: $file"
  nm -D --undefined-only "$file" > "$work/needed" || fail "nm: $file"
  grep -q 'Type: *DYN ' "$work/elf" || fail "$file is loaded to an address that is known before"
  grep -q 'GNU_RELRO' "$work/elf" || fail "$file has no RELRO"
  grep -q -E 'BIND_NOW|FLAGS_1.*NOW' "$work/elf" || fail "$file has no full RELRO: its symbols are bound later"
  grep -q -E 'GNU_STACK.* RW ' "$work/elf" || fail "$file has an executable stack"
  grep -q '__stack_chk_fail' "$work/needed" || fail "$file has no stack protector"
  grep -q -E ' __[a-z]+_chk(@|$)' "$work/needed" || fail "$file was built without _FORTIFY_SOURCE"
done

"$prefix/bin/hemstitch" -V > "$work/version" || fail "the installed tool does not start"

echo "the shared library has its SONAME and exports nothing but the interface"
shared=$library_folder/libhemstitch.so
readelf -d "$shared" | grep -q 'SONAME.*\[libhemstitch\.so\.0\]' || fail "SONAME is not libhemstitch.so.0"
nm -D --defined-only "$shared" | awk '{print $NF}' | sort -u > "$work/exported"
c++filt < "$work/exported" > "$work/exported.names"
if grep -v -E '^(hemstitch_|hemstitch::|(typeinfo|typeinfo name|vtable) for hemstitch::Error$)' "$work/exported.names"; then
  fail "these symbols are exported and not ours"
fi
# What the public headers do not name must not be there either.
while read -r name; do
  plain=${name%%(*}
  plain=${plain%%\[*}
  plain=${plain##* }
  plain=${plain##*::}
  plain=${plain#\~}
  grep -q -w -e "$plain" "$prefix"/include/hemstitch/* || fail "exported, but not in the public headers: $name"
done < "$work/exported.names"
for name in hemstitch_compress hemstitch_restore hemstitch_restored_size hemstitch_compress_bound hemstitch_version \
  hemstitch_status_text hemstitch_last_error_message hemstitch_lz4_compress_async hemstitch_lz4_frame_restore_async; do
  grep -q -x "$name" "$work/exported" || fail "$name is not exported"
done

echo "every public header stands alone, those of C in C"
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only)
for header in "$prefix"/include/hemstitch/*; do
  printf '#include <hemstitch/%s>\nint alone;\n' "${header##*/}" > "$work/alone.cpp"
  for compiler in c++ clang++; do
    if ! command -v "$compiler" > "$work/which"; then continue; fi
    "$compiler" -std=c++20 "${warnings[@]}" -I "$prefix/include" "$work/alone.cpp" || fail "$compiler: $header"
  done
  if [[ $header == *.hpp ]]; then continue; fi
  for compiler in cc clang; do
    if ! command -v "$compiler" > "$work/which"; then continue; fi
    "$compiler" -x c -std=c99 "${warnings[@]}" -I "$prefix/include" "$work/alone.cpp" || fail "$compiler, C: $header"
  done
done

cp "$source_folder/LICENSE" "$work/sample"
check_example() {
  "$1" "$work/sample" > "$work/output" || fail "$1: $(cat "$work/output")"
  [[ $(grep -c 'restored exactly' "$work/output") -eq 2 ]] || fail "$1: $(cat "$work/output")"
  lz4 -dcf "$work/sample.lz4" 2> /dev/null | cmp - "$work/sample" || fail "$1: lz4 restores something else"
  rm "$work/sample.lz4"
}

check_c_example() {
  "$1" > "$work/output" || fail "$1: $(cat "$work/output")"
  grep -q 'restored exactly' "$work/output" || fail "$1: $(cat "$work/output")"
  grep -q 'damaged: status 3' "$work/output" || fail "$1: $(cat "$work/output")"
}

configure() { cmake -G Ninja -S "$1" -B "$2" -DCMAKE_PREFIX_PATH="$prefix" "${@:3}" > "$work/configure.log" 2>&1; }

echo "the examples build by CMake"
for language in c cpp; do
  configure "$source_folder/examples/$language" "$work/$language" || fail "$(cat "$work/configure.log")"
  cmake --build "$work/$language" > "$work/build.log" || fail "$(cat "$work/build.log")"
done
check_c_example "$work/c/round_trip"
for example in choice many matches page_store ranges search_text; do
  "$work/c/$example" > "$work/output" || fail "$example: $(cat "$work/output")"
done
"$work/c/stream" "$work/sample" "$work/sample.gz" > "$work/output" || fail "stream: $(cat "$work/output")"
gzip -dc "$work/sample.gz" | cmp - "$work/sample" || fail "stream: gzip restores something else"
check_example "$work/cpp/compress_file"
check_example "$work/cpp/compress_file_static"
"$work/cpp/search_files" copyright,grant "$work/sample" > "$work/output" || fail "search_files: $(cat "$work/output")"
[[ $(grep -c ' matches: ' "$work/output") -eq $(grep -c -i -e copyright -e grant "$work/sample") ]] ||
  fail "search_files: $(cat "$work/output")"
grep -q "^'copyright' stands at $(grep -o copyright "$work/sample" | wc -l) places of 1 files" "$work/output" ||
  fail "search_files: $(cat "$work/output")"
# 100 pages are worth a device that has started, unless its bus is slow.
"$work/cpp/pcie_analysis" > "$work/output" || fail "pcie_analysis: $(cat "$work/output")"
grep -q '^ *100 .* cuda ' "$work/output" || fail "pcie_analysis: $(cat "$work/output")"
"$work/cpp/pcie_analysis" 16 132 1 > "$work/output" || fail "pcie_analysis: $(cat "$work/output")"
[[ $(grep -c ' cpu  ' "$work/output") -eq 8 ]] || fail "pcie_analysis: $(cat "$work/output")"
if ldd "$work/cpp/compress_file_static" | grep -q libhemstitch; then fail "the static example uses the shared library"; fi

if [[ -n $cuda_toolkit ]]; then
  echo "the CUDA examples build, and run or say why not"
  configure "$source_folder/examples/cuda" "$work/cuda" -DCUDAToolkit_ROOT="$cuda_toolkit" ||
    fail "$(cat "$work/configure.log")"
  cmake --build "$work/cuda" > "$work/build.log" || fail "$(cat "$work/build.log")"
  if "$work/cuda/sequences_on_device" "$work/sample" > "$work/output" 2>&1; then
    grep -q "^$(stat --format %s "$work/sample") bytes: [1-9][0-9]* sequences" "$work/output" || fail "$(cat "$work/output")"
  else
    # What the CUDA runtime says where there is no driver, or no device.
    grep -q -E 'driver version is insufficient|no CUDA-capable device' "$work/output" || fail "$(cat "$work/output")"
  fi
  if "$work/cuda/lz4_on_device" "$work/sample" "$work/sample.lz4" > "$work/output" 2>&1; then
    grep -q 'restored exactly' "$work/output" || fail "$(cat "$work/output")"
    lz4 -dcf "$work/sample.lz4" 2> /dev/null | cmp - "$work/sample" || fail "lz4_on_device: lz4 restores something else"
  else
    grep -q -E 'driver version is insufficient|no CUDA-capable device' "$work/output" || fail "$(cat "$work/output")"
  fi
  mkdir "$work/chunks"
  split --bytes 4096 "$work/sample" "$work/chunks/"
  "$prefix/bin/hemstitch" --format zlib -q --rm "$work"/chunks/* || fail "the tool makes no chunks"
  if "$work/cuda/inflate_chunks" 4096 "$work/array" "$work"/chunks/*.zz > "$work/output" 2>&1; then
    grep -q "became an array of $(stat --format %s "$work/sample")" "$work/output" || fail "$(cat "$work/output")"
    cmp "$work/array" "$work/sample" || fail "inflate_chunks restores something else"
  else
    grep -q -E 'driver version is insufficient|no CUDA-capable device' "$work/output" || fail "$(cat "$work/output")"
  fi
  if "$work/cuda/checkpoint" "$work" > "$work/output" 2>&1; then
    grep -q 'restored exactly' "$work/output" || fail "$(cat "$work/output")"
    lz4 -tq "$work/layer0.lz4" || fail "checkpoint: lz4 refuses what it wrote"
  else
    grep -q -E 'driver version is insufficient|no CUDA-capable device' "$work/output" || fail "$(cat "$work/output")"
  fi
fi

echo "the batch interface links, and works or says why not"
cat > "$work/batch.c" << 'PROGRAM'
#include <hemstitch/batch.h>
#include <stdio.h>
int main(void) {
  hemstitch_lz4_blocks blocks = {0};
  size_t bytes = 0;
  const hemstitch_status status = hemstitch_lz4_compress_temp_bytes(&blocks, 1, &bytes);
  printf("%d %s\n", status, hemstitch_last_error_message());
  return 0;
}
PROGRAM
read -r -a flags <<< "$(pkg-config --cflags --libs hemstitch)"
cc -Wall -Wextra -Wpedantic -std=c99 "$work/batch.c" "${flags[@]}" -o "$work/batch" || fail "batch.h in C"
"$work/batch" > "$work/output"
grep -q -E '^(0 $|500 ..)' "$work/output" || fail "$(cat "$work/output")"
if [[ -z $cuda_toolkit ]]; then grep -q '^500 .*has no CUDA' "$work/output" || fail "$(cat "$work/output")"; fi

echo "the examples build by pkg-config"
read -r -a flags <<< "$(pkg-config --cflags --libs hemstitch)"
cc "$source_folder/examples/c/round_trip.c" "${flags[@]}" -o "$work/c_by_pkg_config"
check_c_example "$work/c_by_pkg_config"
c++ -std=c++20 "$source_folder/examples/cpp/compress_file.cpp" "${flags[@]}" -o "$work/cpp_by_pkg_config"
check_example "$work/cpp_by_pkg_config"
read -r -a flags <<< "$(pkg-config --static --libs hemstitch)"
cc -I "$prefix/include" "$source_folder/examples/c/round_trip.c" \
  "${flags[@]/#-lhemstitch/-l:libhemstitch.a}" -o "$work/c_static_by_pkg_config"
check_c_example "$work/c_static_by_pkg_config"

echo "a component that is not there is refused by name"
mkdir "$work/component"
cat > "$work/component/CMakeLists.txt" << 'PROJECT'
cmake_minimum_required(VERSION 3.22)
project(component LANGUAGES CXX)
find_package(hemstitch CONFIG REQUIRED COMPONENTS ${WANTED})
PROJECT
configure "$work/component" "$work/component/build" -DWANTED=static || fail "$(cat "$work/configure.log")"
if configure "$work/component" "$work/component/build" -DWANTED=warp_drive; then fail "the component warp_drive was found"; fi
grep -q "no component 'warp_drive'" "$work/configure.log" || fail "$(cat "$work/configure.log")"
if [[ -n $cuda_toolkit ]]; then
  configure "$work/component" "$work/component/build" -DWANTED=cuda || fail "$(cat "$work/configure.log")"
else
  if configure "$work/component" "$work/component/build" -DWANTED=cuda; then fail "the component cuda was found"; fi
  grep -q "no component 'cuda'" "$work/configure.log" || fail "$(cat "$work/configure.log")"
  grep -q "HEMSTITCH_CUDA=ON" "$work/configure.log" || fail "$(cat "$work/configure.log")"
fi

echo "passed"
