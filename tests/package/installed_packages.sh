#!/usr/bin/env bash
# Installs what tools/package made as a stranger would, in a Debian with nothing in it, and uses it: the tool, the library from C,
# the Python package, nbdkit's plugin; removes it again. Then the tool alone, in a root folder that holds nothing else.
#
#   installed_packages.sh PACKAGES [BASE]      BASE: a tar of the empty Debian; made where it is not there
#
# Needs root, and what `tools/setup package` installs. Nothing of the system is changed.
set -euo pipefail
source_folder=$(realpath "$(dirname "$0")/../..")
packages=$(realpath "$1")
base=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

echo "what is published is whole"
(cd "$packages" && sha256sum --check --quiet SHA256SUMS) || fail "checksums"
[[ $(cd "$packages" && find . -type f ! -name SHA256SUMS | wc -l) -eq $(wc -l < "$packages/SHA256SUMS") ]] || fail "a file has no checksum"
version=$(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' "$source_folder/include/hemstitch/version.h")
tar -tf "$packages/hemstitch-$version.tar.xz" > "$work/list"
grep -qx "hemstitch-$version/CMakeLists.txt" "$work/list" || fail "the source has no CMakeLists.txt"
python3 - "$packages/hemstitch-$version.spdx.json" "$version" "$packages"/*.deb << 'PROGRAM'
import json
import sys
document = json.load(open(sys.argv[1]))
packages = {entry["SPDXID"]: entry for entry in document["packages"]}
assert document["spdxVersion"] == "SPDX-2.3" and packages["SPDXRef-hemstitch"]["versionInfo"] == sys.argv[2], document
names = {entry["name"] for entry in packages.values()}
assert {"liblz4-1", "libdeflate0", "libzstd1", "zlib1g", "libc6", "nlohmann-json3-dev"} <= names, names
for name in ("nanobind", "robin-map", "liblz4-dev"):
    assert (name in names) == any("/python3-hemstitch_" in file for file in sys.argv[3:]), (name, names)
for entry in packages.values():
    assert entry["versionInfo"] and entry["licenseConcluded"] != "NOASSERTION", entry
for link in document["relationships"]:
    assert link["relatedSpdxElement"] in packages, link
PROGRAM

echo "lintian finds no error"
lintian --fail-on error --no-tag-display-limit "$packages"/*.deb > "$work/lintian" 2>&1 || fail "lintian: $(grep '^E' "$work/lintian")"

echo "the packages say what README says"
summary=$(sed -n 's/^ *DESCRIPTION "\(.*\)")/\1/p' "$source_folder/CMakeLists.txt")
for package in "$packages"/*.deb; do
  [[ $(dpkg-deb --field "$package" Description) == "$summary ("* ]] || fail "$package: $(dpkg-deb --field "$package" Description)"
  [[ $(dpkg-deb --field "$package" Version) == "$version-1" ]] || fail "$package has another version than version.h"
  dpkg-deb --contents "$package" > "$work/contents"
  licences=(nlohmann-json3-dev libtbb-dev)
  if [[ $package == */python3-* ]]; then licences+=(nanobind robin-map liblz4-dev libdeflate-dev libxxhash-dev libzstd-dev zlib1g-dev); fi
  for licence in "${licences[@]}"; do
    grep -q "/copyright.$licence\$" "$work/contents" || fail "$package has no licence of $licence"
  done
done

echo "a Debian with nothing in it"
root=$work/root
mkdir "$root"
if [[ -n $base && -e $base ]]; then
  tar -C "$root" --numeric-owner -xpf "$base"
else
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # Where this machine has its packages from.
  # shellcheck disable=SC2016  # apt's own names
  mirror=$(apt-get indextargets --format '$(CREATED_BY) $(COMPONENT) $(CODENAME) $(SITE)' | sed -n "s/^Packages main $suite //p" | head -1)
  [[ -n $mirror ]] || fail "apt has no packages of $suite"
  debootstrap --variant=minbase "$suite" "$root" "$mirror" > "$work/debootstrap.log" 2>&1 || fail "$(tail "$work/debootstrap.log")"
  if [[ -n $base ]]; then
    tar -C "$root" --numeric-owner -cpf "$base.part" .
    mv "$base.part" "$base"
  fi
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

# The first block of a language in README, as it stands there.
block() { awk -v "begin=\`\`\`$1" '$0 == begin && !found { found = inside = 1; next } /^```/ { inside = 0 } inside' "$source_folder/README.md"; }

echo "the tool alone installs, and README's first commands work"
mkdir "$root/packages" "$root/srv/first"
cp "$packages"/*.deb "$root/packages/"
inside apt-get update --quiet=2 > "$work/apt.log" 2>&1 || fail "$(cat "$work/apt.log")"
inside sh -c 'apt-get install --yes --quiet=2 --no-install-recommends /packages/hemstitch_*.deb' > "$work/apt.log" 2>&1 || fail "$(tail -n 30 "$work/apt.log")"
[[ -z $(inside dpkg-query --show 'libhemstitch*' 2> /dev/null) ]] || fail "the tool brings the library"
cp "$source_folder/LICENSE" "$root/srv/first/notes.txt"
block sh > "$root/srv/first/commands"
grep -q '^hemstitch search' "$root/srv/first/commands" || fail "README's first block is another one: $(cat "$root/srv/first/commands")"
inside sh -c 'cd /srv/first && sh -e commands' > "$work/output" 2>&1 || fail "README's first block: $(cat "$work/output")"
cmp "$root/srv/first/again.txt" "$source_folder/LICENSE" || fail "the first block restores something else"
[[ $(grep -c Licensor "$work/output") -eq $(grep -c Licensor "$source_folder/LICENSE") ]] || fail "the first block finds something else: $(cat "$work/output")"
grep -q 'notes.txt.lz4' "$work/output" || fail "the first block does not list: $(cat "$work/output")"

echo "all of them install"
inside sh -c 'apt-get install --yes --quiet=2 --no-install-recommends /packages/*.deb' > "$work/apt.log" 2>&1 || fail "$(tail -n 30 "$work/apt.log")"

# As README shows it: in the folder $2 of the root $1, by the tool $3.
use_tool() {
  local run=(chroot "$1" "$3") folder=$1$2
  mkdir -p "$folder"
  cp "$source_folder/LICENSE" "$folder/notes.txt"
  "${run[@]}" -V | grep -q -F "$version" || fail "the tool says another version"
  "${run[@]}" -q "$2/notes.txt" || fail "the tool does not compress"
  lz4 -dcf "$folder/notes.txt.lz4" 2> /dev/null | cmp - "$source_folder/LICENSE" || fail "lz4 does not restore it"
  "${run[@]}" -q "$2/notes.txt" -o "$2/notes.gz" || fail "the tool writes no .gz"
  gzip -dc "$folder/notes.gz" | cmp - "$source_folder/LICENSE" || fail "gzip does not restore it"
  "${run[@]}" -l "$2/notes.txt.lz4" > "$work/listed" || fail "the tool does not list"
  grep -q 'notes.txt' "$work/listed" || fail "the list lacks the file: $(cat "$work/listed")"
  rm "$folder/notes.txt"
  "${run[@]}" search -z copyright "$2/notes.txt.lz4" | cmp - <(grep -F copyright "$source_folder/LICENSE") || fail "the tool finds something else than grep"
  "${run[@]}" -q -d "$2/notes.txt.lz4" || fail "the tool does not restore"
  cmp "$folder/notes.txt" "$source_folder/LICENSE" || fail "the tool restores something else"
  printf broken > "$folder/broken.lz4"
  if "${run[@]}" -q -d "$2/broken.lz4" 2> "$work/errors"; then fail "the tool restores what is broken"; fi
  grep -q broken.lz4 "$work/errors" || fail "the error does not say where: $(cat "$work/errors")"
}

echo "README, its pages and the examples are there"
for file in hemstitch/README.md hemstitch/docs/index.md libhemstitch-dev/examples/c/round_trip.c; do
  [[ -s $root/usr/share/doc/$file ]] || fail "/usr/share/doc/$file was not installed"
done
# Links to what is for those who work on the source, or has another place in a package, lead nowhere.
python3 - "$root/usr/share/doc/hemstitch" << 'PROGRAM' || fail "links of the documents"
import pathlib
import re
import sys
folder = pathlib.Path(sys.argv[1])
pages = sorted(folder.rglob("*.md"))
texts = {page: re.sub(r"(?ms)^```.*?^```", "", page.read_text()) for page in pages}
links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#\s]+)", texts[page]) if "://" not in link]
assert len(links) > 100, links
source = re.compile(r"(\.\./)*(bench/.*|conformance/.*|src/.*|include/.*|HACKING\.md|CONTRIBUTING\.md|CHANGELOG\.md|LICENSE)")
broken = [f"{page}: {link}" for page, link in links if not source.fullmatch(link) and not (page.parent / link).exists()]
assert not broken, broken
PROGRAM

echo "the tool works"
use_tool "$root" /srv/files /usr/bin/hemstitch
dpkg-deb --contents "$packages"/hemstitch_*.deb > "$work/contents"
for file in man/man1/hemstitch.1.gz bash-completion/completions/hemstitch zsh/vendor-completions/_hemstitch fish/vendor_completions.d/hemstitch.fish; do
  # A minimal Debian leaves out the manual, by dpkg's settings; the package has it.
  grep -q "usr/share/$file" "$work/contents" || fail "$file is not in the package"
done

echo "the library works from C"
# Compiled outside, against what was installed inside.
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
read -r -a flags <<< "$(PKG_CONFIG_LIBDIR=$root/usr/lib/$multiarch/pkgconfig pkg-config --cflags --libs hemstitch)"
for flag in "${flags[@]}"; do
  if [[ $flag == -[IL]* && $(realpath "${flag:2}") != "$root"/* ]]; then fail "pkg-config leads out of the package: $flag"; fi
done
cc "$source_folder/examples/c/round_trip.c" "${flags[@]}" -o "$root/srv/round_trip"
inside /srv/round_trip > "$work/output" || fail "$(cat "$work/output")"
grep -q 'restored exactly' "$work/output" || fail "$(cat "$work/output")"

for part in webgpu cuda; do
  compgen -G "$packages/hemstitch-${part}_*.deb" > "$work/part" || continue
  echo "the part for $part is loaded, and says why there is no device"
  inside hemstitch backends > "$work/output" || fail "backends: $(cat "$work/output")"
  grep -A1 "^$part " "$work/output" > "$work/state" || fail "$part is not listed: $(cat "$work/output")"
  grep -q 'not here' "$work/state" || fail "$part has a device in an empty root: $(cat "$work/state")"
  if grep -q -e 'could not be loaded' -e libhemstitch "$work/state"; then fail "the part is left out: $(cat "$work/state")"; fi
  if inside hemstitch -c --backend "$part" /srv/first/notes.txt > "$work/compressed" 2> "$work/errors"; then fail "$part compresses without a device"; fi
  grep -q "backend '$part'" "$work/errors" || fail "$(cat "$work/errors")"

  echo "a part for $part that is cut off, or of another release, is named and left out"
  file=$root/usr/lib/$multiarch/hemstitch/libhemstitch-$part.so.0
  cp "$file" "$work/whole"
  head -c 100000 "$work/whole" > "$file"
  inside hemstitch backends | grep -A1 "^$part " > "$work/state" || fail "backends, with a part that is cut off"
  grep -q "$part.so.0 is cut off" "$work/state" || fail "cut off: $(cat "$work/state")"
  inside hemstitch -c /usr/bin/hemstitch > "$root/srv/first/auto.lz4" || fail "a part that is cut off stops auto"
  inside hemstitch -dc /srv/first/auto.lz4 | cmp - "$root/usr/bin/hemstitch" || fail "a part that is cut off"
  python3 - "$work/whole" "$file" "$version" << 'PROGRAM'
import sys
whole, other, version = sys.argv[1:]
release = version[:-1] + ("8" if version.endswith("9") else "9")
open(other, "wb").write(open(whole, "rb").read().replace(b"\0" + version.encode() + b"\0", b"\0" + release.encode() + b"\0"))
PROGRAM
  inside hemstitch backends | grep -A1 "^$part " > "$work/state" || fail "backends, with a part of another release"
  grep -q 'is of release' "$work/state" || fail "of another release: $(cat "$work/state")"
  cp "$work/whole" "$file"
done

if compgen -G "$packages/python3-hemstitch_*.deb" > "$work/python"; then
  echo "the Python package works"
  block python > "$root/srv/first/program.py"
  grep -q hemstitch.compress "$root/srv/first/program.py" || fail "README's first block in Python is another one"
  inside sh -c 'cd /srv/first && python3 program.py' > "$work/output" 2>&1 || fail "README's block in Python: $(cat "$work/output")"
  inside python3 - << 'PROGRAM' || fail "Python"
import gzip
import hemstitch
content = b"a stranger's bytes, " * 5000
assert hemstitch.restore(hemstitch.compress(content)) == content
assert gzip.decompress(hemstitch.compress(content, format="gzip")) == content
with hemstitch.open("/srv/files/notes.txt.lz4", "rb") as notes:
    assert notes.read().count(b"copyright")
PROGRAM
fi

if compgen -G "$packages/nbdkit-plugin-hemstitch_*.deb" > "$work/plugin"; then
  echo "nbdkit finds its plugin"
  dpkg-deb --contents "$packages"/nbdkit-plugin-hemstitch_*.deb > "$work/contents"
  grep -q usr/share/man/man1/nbdkit-hemstitch-plugin.1.gz "$work/contents" || fail "the plugin's manual is not in the package"
  inside nbdkit --dump-plugin hemstitch > "$work/output" || fail "nbdkit: $(cat "$work/output")"
  grep -qx name=hemstitch "$work/output" || fail "nbdkit: $(cat "$work/output")"
fi

echo "removing leaves nothing"
# shellcheck disable=SC2016  # for the shell inside
inside sh -c 'dpkg --purge $(dpkg-query --show --showformat "\${Package} " "*hemstitch*")' > "$work/dpkg.log" 2>&1 || fail "$(cat "$work/dpkg.log")"
left=$(find "$root/usr" "$root/etc" -name '*hemstitch*')
[[ -z $left ]] || fail "removing left: $left"

echo "the tool works where there is nothing else"
mkdir "$work/nothing"
tar -C "$work/nothing" -xf "$packages/hemstitch-$version-linux-$(uname -m).tar.xz"
use_tool "$work/nothing" /files /opt/hemstitch/bin/hemstitch
cmp <(gzip -dc "$packages/hemstitch-$version-linux-$(uname -m).tar.gz") <(xz -dc "$packages/hemstitch-$version-linux-$(uname -m).tar.xz") ||
  fail "the two archives differ"
for file in man/man1/hemstitch.1.gz bash-completion/completions/hemstitch; do
  [[ -s $work/nothing/opt/hemstitch/share/$file ]] || fail "$file is not in the archive"
done
for part in "$work"/nothing/opt/hemstitch/lib/hemstitch/libhemstitch-*.so.0; do
  [[ -e $part ]] || continue
  part=${part##*libhemstitch-}
  part=${part%.so.0}
  chroot "$work/nothing" /opt/hemstitch/bin/hemstitch backends > "$work/output" || fail "backends, where there is nothing else"
  grep -A1 "^$part " "$work/output" > "$work/state" || fail "the archive's part for $part: $(cat "$work/output")"
  if grep -q -e 'not built' -e 'could not be loaded' -e libhemstitch "$work/state"; then fail "the archive's part: $(cat "$work/state")"; fi
done
for package in hemstitch liblz4-1 libc6 libtbb12 nlohmann-json3-dev; do
  [[ -s $work/nothing/opt/hemstitch/licences/$package.txt ]] || fail "the licence of $package is missing"
done

echo "passed"
