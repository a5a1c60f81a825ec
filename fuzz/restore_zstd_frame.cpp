// Any bytes as one frame of Zstandard, restored by CUDA's kernels on the processor, piece by piece, and by the reference restorer from the
// block on that they leave. Outcome, content, place and message must be those of the reference restorer alone. Nothing outside of
// a piece's data and room may be touched.
#include <cuda_runtime.h>

#include <utility>

#include "fuzz.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_frame_kernels.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostBytes = 1000;  // of blocks without content, which are many
  if (size > kMostBytes) return -1;
  FuzzedDataProvider input(data, size);
  const ZstdPieces pieces{.blocks = input.ConsumeIntegralInRange<std::size_t>(1, 8),
                          .capacity = input.ConsumeIntegralInRange<std::size_t>(0, 5000),
                          .against = input.ConsumeBool() ? Against::kUpperGuard : Against::kLowerGuard};
  // The second frame is a valid one, with bits flipped.
  Bytes made = valid_zstd_frame(input.ConsumeIntegral<std::uint16_t>(), 2000).data;
  for (auto flips = input.ConsumeIntegralInRange<unsigned>(0, 4); flips > 0; --flips)
    made[input.ConsumeIntegralInRange<std::size_t>(0, made.size() - 1)] ^=
        std::byte{1} << input.ConsumeIntegralInRange<unsigned>(0, 7);
  const Bytes given = rest_of(input);
  for (const Bytes* const frame : {&given, &std::as_const(made)}) {
    const ZstdRead expected = read_by_reference(*frame);
    const ZstdRead read = read_by_zstd_frame_kernels(*frame, pieces).read;
    require(read.outcome == expected.outcome);
    // Said by whoever counts the content: perhaps before damage behind it is reached.
    if (read.why == "content size" || expected.why == "content size") continue;
    require(read.why == expected.why && read.used_bytes == expected.used_bytes &&
            read.content == expected.content);
  }
  return 0;
}
