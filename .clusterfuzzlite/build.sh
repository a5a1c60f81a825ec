#!/bin/bash
# Builds the fuzz targets as ClusterFuzzLite and OSS-Fuzz ask for: with their compilers and flags, into $OUT, each with its seeds.
#
#   build.sh [TARGET...]      default: all targets
#
# They set CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, SRC, WORK and OUT; tools/fuzz-project does so without their image.
set -euo pipefail

# The system's oneTBB and fmt are compiled with libstdc++, so what calls them has to be, too. libFuzzer has a library of its own inside.
CXXFLAGS=${CXXFLAGS//-stdlib=libc++/}
export CXXFLAGS

targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
  # Each has a corpus. The one for WebGPU needs a driver.
  mapfile -t targets < <(find "$SRC/hemstitch/fuzz/corpus" -mindepth 1 -maxdepth 1 -type d ! -name diff_backends_webgpu -printf '%f\n' | sort)
fi

# No build type's own flags; assertions stay on.
cmake -S "$SRC/hemstitch" -B "$WORK/hemstitch" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
  -DHEMSTITCH_FUZZ=ON "-DHEMSTITCH_FUZZING_ENGINE=$LIB_FUZZING_ENGINE" -DHEMSTITCH_TESTS=OFF -DHEMSTITCH_WEBGPU=OFF -DHEMSTITCH_SELF_CONTAINED=ON
cmake --build "$WORK/hemstitch" --parallel "$(nproc)" --target "${targets[@]/#/fuzz_}" fuzz_write_seeds
"$WORK/hemstitch/fuzz/write_seeds" "$WORK/seeds"

# They are run in another image, which has the C library and nothing else: the other libraries come along, in lib/ beside them.
mkdir -p "$OUT/lib"
for target in "${targets[@]}"; do
  cp "$WORK/hemstitch/fuzz/$target" "$OUT/$target"
  rm -f "$OUT/${target}_seed_corpus.zip"
  seeds=("$SRC/hemstitch/fuzz/corpus/$target")
  if [[ -d $WORK/seeds/$target ]]; then seeds+=("$WORK/seeds/$target"); fi
  zip --quiet --junk-paths --recurse-paths "$OUT/${target}_seed_corpus.zip" "${seeds[@]}"
  ldd "$WORK/hemstitch/fuzz/$target"
done | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u > "$WORK/libraries"
while read -r library; do
  case ${library##*/} in
    libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | libresolv.so.*) ;;
    *) cp --dereference "$library" "$OUT/lib/" ;;
  esac
done < "$WORK/libraries"
