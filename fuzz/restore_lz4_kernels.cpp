// Any bytes as LZ4 blocks, restored by CUDA's kernels on the processor in each of their ways. Bytes and status must be the reference
// decoder's, and the verdict liblz4's, but where we are meant to differ. Nothing outside of block, history and room may be touched.
#include "core/page.hpp"
#include "fuzz.hpp"
#include "lz4_blocks.hpp"
#include "lz4_differences.hpp"
#include "lz4_kernels.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  // A block of few needs 512 fibers, so these are tested less often.
  const unsigned number = input.ConsumeIntegralInRange<unsigned>(0, 15);
  const Lz4Way way = number == 0   ? Lz4Way::kFewBlocks
                     : number < 6  ? Lz4Way::kManyBlocks
                     : number < 9  ? Lz4Way::kFewPages
                     : number < 13 ? Lz4Way::kManyPages
                                   : Lz4Way::kChosen;
  const bool are_pages = way == Lz4Way::kFewPages || way == Lz4Way::kManyPages;
  const Against against = input.ConsumeBool() ? Against::kUpperGuard : Against::kLowerGuard;
  const bool sizes_alone = input.ConsumeIntegralInRange<unsigned>(0, 7) == 0;
  const std::size_t lacking = input.ConsumeIntegralInRange<std::size_t>(0, 2);
  const std::size_t most = way == Lz4Way::kFewBlocks || way == Lz4Way::kManyBlocks ? 100'000 : kPageBytes;
  const Bytes history = take_bytes(input, are_pages ? 0 : 300);
  const Bytes first = take_bytes(input, 1000), second = rest_of(input);
  std::vector<KernelBlock> blocks;
  for (const Bytes* block : {&first, &second}) {
    const auto bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(lz4_block_facts(*block).restored_bytes, most));
    blocks.push_back({*block, history, bytes - std::min(bytes, lacking)});
  }
  const auto restored = restored_by_lz4_kernels(blocks, way, against, sizes_alone);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const RestoredByKernel expected = restored_by_lz4_reference(blocks[i]);
    require(restored[i].status == expected.status);
    require(restored[i].content.size() == expected.content.size());
    if (sizes_alone) continue;
    require(restored[i].content == expected.content);
    const auto ours = restored[i].status == HEMSTITCH_OK ? std::optional(restored[i].content) : std::nullopt;
    require(lz4_block_as_meant(blocks[i].data, blocks[i].capacity, ours,
                               restored_by_liblz4(blocks[i].data, history, blocks[i].capacity)));
  }
  return 0;
}
