#!/usr/bin/env bash
# Compiles every header of src/core but those that make text (fmt), and every other one that marks functions for host and device,
# as CUDA together with a kernel that calls such functions. Nothing is run, so no GPU is needed.
#
#   compile_as_cuda.sh SOURCE_FOLDER      exit 77: skipped, there is no nvcc and HEMSTITCH_REQUIRE does not name it
set -euo pipefail
cd "$1"

if ! nvcc=$(tools/find-nvcc); then
  if [[ ,${HEMSTITCH_REQUIRE:-}, == *,nvcc,* ]]; then
    echo "FAILED: HEMSTITCH_REQUIRE names nvcc, and it is not here (tools/setup nvcc installs it)" >&2
    exit 1
  fi
  echo "skipped: nvcc is not here (tools/setup nvcc installs it)"
  exit 77
fi

mapfile -t headers < <({
  grep -L '#include <fmt/' src/core/*.hpp
  grep -rl --include='*.hpp' HEMSTITCH_HOST_DEVICE src
} | sort -u)
includes=()
for header in "${headers[@]}"; do includes+=(-include "$header"); done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$nvcc" -std=c++20 -arch=sm_90 -Werror all-warnings -I include -I src "${includes[@]}" \
  -c tests/host_device/calls_from_a_kernel.cu -o "$work/object.o"
echo "compiled as CUDA by $nvcc: ${headers[*]}"
