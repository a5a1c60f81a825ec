#!/usr/bin/env bash
# Installs the wheels that tools/python-package made as a stranger would, by pip, in a Debian with nothing in it but Python, and uses them: the module, the tool,
# the extra webgpu as far as loading its library and saying why there is no device.
#
#   installed_wheels.sh WHEELS BASE      BASE: a tar of the empty Debian, which tests/package/installed_packages.sh makes
#
# Needs root. Nothing of the system is changed. The tool also runs with the old glibc of build/tools/wheel-root, where that is.
set -euo pipefail
source_folder=$(realpath "$(dirname "$0")/../..")
wheels=$(realpath "$1")
base=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

if ! compgen -G "$wheels/*.whl" > /dev/null; then
  echo "there are no wheels (tools/python-package makes them): nothing was tried"
  exit 0
fi
version=$(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' "$source_folder/include/hemstitch/version.h")
old=$source_folder/build/tools/wheel-root
venv=$source_folder/build/tools/python-venv

echo "each wheel says for which systems it is, has the licences of what is in it, and is named in its own list"
for wheel in "$wheels"/hemstitch-"$version"-*.whl; do
  python3 - "$wheel" "$([[ -d $old ]] && echo old || echo here)" << 'PROGRAM' || fail "$wheel"
import re
import sys
import zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
licences = {re.sub(r".*/licenses-|(-[0-9.]+)?\.txt$", "", name) for name in names if "/licenses/licenses-" in name}
wanted = {"libtbb-dev", "libfmt-dev", "libisal-dev", "liblz4-dev", "libdeflate-dev", "libxxhash-dev", "libzstd-dev", "zlib1g-dev", "nlohmann-json3-dev", "nanobind", "robin-map"}
if sys.argv[2] == "old":
    wanted.add("libstdc++-12-dev")
    assert "-manylinux_2_28_x86_64" in sys.argv[1], sys.argv[1]
    assert not [name for name in names if ".so." in name], names
assert wanted <= licences, wanted - licences
assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names), names
[tool] = [one for one in wheel.infolist() if one.filename.endswith(".data/scripts/hemstitch")]
assert tool.external_attr >> 16 & 0o111 == 0o111, oct(tool.external_attr >> 16)
PROGRAM
done

echo "a Debian with nothing in it but Python"
root=$work/root
mkdir "$root"
tar -C "$root" --numeric-owner -xpf "$base"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# With a /proc of its own, where the tool sees which file it is.
inside() {
  # shellcheck disable=SC2016  # for the shell that mounts
  unshare --mount -- bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/env -i "$@"' "$root" \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
{ inside apt-get update --quiet=2 && inside apt-get install --yes --quiet=2 --no-install-recommends python3; } > "$work/apt.log" 2>&1 || fail "$(tail -n 30 "$work/apt.log")"
inside sh -c '! command -v cc && ! command -v lz4' > "$work/output" || fail "the empty Debian has $(cat "$work/output")"
# pip alone, of another place: Debian's brings a compiler.
mkdir "$root/pip" "$root/wheels"
cp -r "$venv"/lib/python3*/site-packages/pip "$root/pip/"
cp "$wheels"/*.whl "$root/wheels/"
inside python3 -m venv --without-pip /opt/here
pip() { inside PYTHONPATH=/pip /opt/here/bin/python -m pip "$@"; }
# As README and its page say it: pip takes the wheel for its Python, of all that lie there.
for page in README.md docs/python.md; do
  grep -q 'pip install --no-index --find-links . hemstitch$\|pip install --no-index --find-links . hemstitch  *#' "$source_folder/$page" || fail "$page installs in another way"
done
inside PYTHONPATH=/pip sh -c 'cd /wheels && /opt/here/bin/python -m pip install --quiet --no-index --find-links . hemstitch' > "$work/output" 2>&1 || fail "pip: $(cat "$work/output")"
python=/opt/here/bin/python
tool=/opt/here/bin/hemstitch
packages=$(inside "$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')

echo "the module works"
inside "$python" - << 'PROGRAM' || fail "Python"
import gzip
import os
import hemstitch
content = os.urandom(3000) + b"a stranger's bytes, " * 50000
for format in ("lz4", "gzip", "zstd"):
    assert hemstitch.restore(hemstitch.compress(content, format=format)) == content
assert gzip.decompress(hemstitch.compress(content, format="gzip")) == content
try:
    hemstitch.restore(hemstitch.compress(content)[:100])
    raise SystemExit("no error")
except hemstitch.TruncatedError:
    pass
assert hemstitch.unavailable_reason("webgpu") and hemstitch.unavailable_reason("cuda")
PROGRAM

# The tool as it is called: by its file, by Python, with the old glibc.
#   use_tool COMMAND...
use_tool() {
  [[ $("$@" --version) == "hemstitch $version" ]] || fail "$*: --version says $("$@" --version)"
  cp "$source_folder/LICENSE" "$root/notes.txt"
  rm -f "$root"/notes.txt.*
  "$@" -q /notes.txt || fail "$*: does not compress"
  "$@" --format gzip -q /notes.txt || fail "$*: writes no .gz"
  gzip -dc "$root/notes.txt.gz" | cmp - "$source_folder/LICENSE" || fail "$*: gzip does not restore it"
  rm "$root/notes.txt"
  "$@" -q -d /notes.txt.lz4 || fail "$*: does not restore"
  cmp "$root/notes.txt" "$source_folder/LICENSE" || fail "$*: restores something else"
  # Errors are exceptions, which cross from one library into another.
  printf broken > "$root/broken.lz4"
  local status=0
  "$@" -q -d /broken.lz4 2> "$work/errors" || status=$?
  [[ $status -eq 1 ]] || fail "$*: status $status for what is broken"
  grep -q broken.lz4 "$work/errors" || fail "$*: the error does not say where: $(cat "$work/errors")"
  "$@" backends > "$work/output" || fail "$*: backends"
  grep -q '^cpu  *usable' "$work/output" || fail "$*: $(cat "$work/output")"
}

echo "the tool works, by its file and by Python"
use_tool inside "$tool"
use_tool inside "$python" -m hemstitch
[[ $(head -c 4 "$root$tool") == $'\x7fELF' ]] || fail "the tool is a script"

if [[ -d $old/lib/x86_64-linux-gnu ]]; then
  echo "the tool works with the old glibc"
  cp -r "$old/lib" "$root/old"
  use_tool inside /old/x86_64-linux-gnu/ld-2.31.so --library-path /old/x86_64-linux-gnu "$tool"
fi

# wgpu-native as the package wgpu has it, which the extra installs: no more of that package is needed.
library=$source_folder/build/tools/webgpu/lib/libwgpu_native.so
if [[ -e $library ]]; then
  echo "the library of the extra webgpu is found, and there is no device"
  # What the tool and the module say of it holds these words.
  #   webgpu_says WORDS
  webgpu_says() {
    { inside "$tool" backends && inside "$python" -c 'import hemstitch; print(hemstitch.unavailable_reason("webgpu"))'; } > "$work/output" || fail "backends"
    [[ $(grep -c "$1" "$work/output") -eq 2 ]] || fail "not '$1': $(cat "$work/output")"
  }
  webgpu_says 'could not be loaded'
  mkdir -p "$root$packages/wgpu/resources"
  touch "$root$packages/wgpu/__init__.py"
  cp "$library" "$root$packages/wgpu/resources/libwgpu_native-release.so"
  webgpu_says 'no driver shows a GPU'
fi

echo "the wheel of a part lies beside the module, and goes again"
printf 'no shared object' > "$work/libhemstitch-cuda.so.0"
part=$("$source_folder/tools/wheel/part_wheel.py" cuda "$work/libhemstitch-cuda.so.0" "$version" manylinux_2_28_x86_64 1000000000 "$root/wheels" "$source_folder/LICENSE")
again=$("$source_folder/tools/wheel/part_wheel.py" cuda "$work/libhemstitch-cuda.so.0" "$version" manylinux_2_28_x86_64 1000000000 "$work" "$source_folder/LICENSE")
cmp "$part" "$again" || fail "the same part makes another wheel"
pip install --quiet --no-index "/wheels/${part##*/}" > "$work/output" 2>&1 || fail "pip: $(cat "$work/output")"
cmp "$root$packages/hemstitch/libhemstitch-cuda.so.0" "$work/libhemstitch-cuda.so.0" || fail "the part is elsewhere"
inside "$python" -c 'import hemstitch; print(hemstitch.unavailable_reason("cuda"))' > "$work/output" || fail "a part that is none"
grep -q 'hemstitch/libhemstitch-cuda.so.0 is cut off' "$work/output" || fail "$(cat "$work/output")"
use_tool inside "$tool"
grep -A1 '^cuda ' "$work/output" | grep -q 'hemstitch/libhemstitch-cuda.so.0 is cut off' || fail "the tool does not find the part: $(cat "$work/output")"
older=$("$source_folder/tools/wheel/part_wheel.py" cuda "$work/libhemstitch-cuda.so.0" 0.0.1 manylinux_2_28_x86_64 1000000000 "$root/wheels" "$source_folder/LICENSE")
if pip install --quiet --no-index "/wheels/${older##*/}" > "$work/output" 2>&1; then fail "a part of another version installs"; fi
pip uninstall --quiet --yes hemstitch-cuda > "$work/output" 2>&1 || fail "$(cat "$work/output")"
[[ ! -e $root$packages/hemstitch/libhemstitch-cuda.so.0 ]] || fail "the part stays"

if compgen -G "$wheels/hemstitch_cuda-$version-*.whl" > /dev/null; then
  echo "the wheel of the part for CUDA is loaded by module and tool, and says why there is no device"
  of_cuda=("$wheels/hemstitch_cuda-$version-"*.whl)
  pip install --quiet --no-index "/wheels/${of_cuda[0]##*/}" > "$work/output" 2>&1 || fail "pip: $(cat "$work/output")"
  { inside "$tool" backends && inside "$python" -c 'import hemstitch; print(hemstitch.unavailable_reason("cuda"))'; } > "$work/output" || fail "backends"
  [[ $(grep -c 'no CUDA device\|driver' "$work/output") -ge 2 ]] || fail "the part's reason is not told twice: $(cat "$work/output")"
  if grep -q libhemstitch-cuda "$work/output"; then fail "the part is left out: $(cat "$work/output")"; fi
  # Its errors are exceptions of the part, which the module catches.
  inside "$python" - << 'PROGRAM' || fail "an error of the part"
import hemstitch
try:
    hemstitch.compress(b"x" * 100000, backend="cuda")
    raise SystemExit("no error")
except hemstitch.Error as error:
    print(error)
PROGRAM
  if inside "$tool" -c --backend cuda /notes.txt > "$work/output" 2> "$work/errors"; then fail "cuda compresses without a device"; fi
  grep -q "backend 'cuda'" "$work/errors" || fail "$(cat "$work/errors")"
  pip uninstall --quiet --yes hemstitch-cuda > "$work/output" 2>&1 || fail "$(cat "$work/output")"
else
  echo "there is no wheel hemstitch-cuda (tools/package --cuda-build makes it): it was not tried"
fi

echo "removing leaves nothing"
pip uninstall --quiet --yes hemstitch > "$work/output" 2>&1 || fail "$(cat "$work/output")"
left=$(find "$root/opt" -name '*hemstitch*')
[[ -z $left ]] || fail "removing left: $left"

echo "passed"
