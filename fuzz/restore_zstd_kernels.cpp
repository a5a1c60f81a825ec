// Any bytes as frames of Zstandard, restored by CUDA's kernels on the processor: by stages, or by the last kernel where these leave
// them. Status and bytes must be the reference's, and what libzstd's stream restores otherwise must be the same content. Nothing outside of chunk and room may
// be touched.
#include <cuda_runtime.h>

#include "fuzz.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_frames.hpp"
#include "zstd_kernels.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const Against against = input.ConsumeBool() ? Against::kUpperGuard : Against::kLowerGuard;
  const std::size_t lacking = input.ConsumeIntegralInRange<std::size_t>(0, 2);
  // The second chunk is a valid frame, with bits flipped.
  Bytes made = valid_zstd_frame(input.ConsumeIntegral<std::uint16_t>(), 2000).data;
  for (auto flips = input.ConsumeIntegralInRange<unsigned>(0, 4); flips > 0; --flips)
    made[input.ConsumeIntegralInRange<std::size_t>(0, made.size() - 1)] ^=
        std::byte{1} << input.ConsumeIntegralInRange<unsigned>(0, 7);
  Bytes given = rest_of(input);
  std::vector<KernelBlock> chunks;
  for (const Bytes* chunk : {&given, &made}) {
    Bytes room(1 << 16);
    const std::size_t bytes = restore_zstd_chunk_reference(*chunk, room).output_bytes;
    chunks.push_back({*chunk, {}, bytes - std::min(bytes, lacking)});
  }
  // Little room, since each block of threads that it asks for costs time; chunks for which it does not suffice go to the last kernel.
  const auto restored = restored_by_zstd_kernels(chunks, against, false, nullptr,
                                                 {.blocks = 24, .tables = 16, .units = 1 << 14});
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const RestoredByKernel expected = restored_by_zstd_reference(chunks[i]);
    require(restored[i].status == expected.status && restored[i].content == expected.content);
    if (expected.status != HEMSTITCH_OK) continue;
    const ZstdRead theirs = read_by_libzstd(chunks[i].data);
    if (theirs.outcome == ZstdOutcome::kWhole && theirs.used_bytes == chunks[i].data.size())
      require(theirs.content == expected.content);
  }
  return 0;
}
