// Any bytes as pages, and as what pages were kept as, by CUDA's kernels on the processor: entries, bytes and statuses must be the
// reference's, and checksums those of the host. Nothing outside of a page, its kept bytes and its room may be touched.
#include "page_kernels.hpp"

#include "checksum_kernels.hpp"
#include "fuzz.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const Against against = input.ConsumeBool() ? Against::kUpperGuard : Against::kLowerGuard;
  const Lz4Level level = lz4_level(input.ConsumeBool() ? 1 : 3, kPageBytes);
  const Lz4PageEntry hostile{input.ConsumeBool() ? input.ConsumeIntegralInRange<std::uint32_t>(0, 4097)
                                                 : input.ConsumeIntegral<std::uint32_t>(),
                             static_cast<PageKind>(input.ConsumeIntegralInRange<std::uint32_t>(0, 4))};
  const auto page_bytes = input.ConsumeIntegralInRange<std::size_t>(0, kPageBytes);
  const Bytes first = take_bytes(input, kPageBytes);
  Bytes second = rest_of(input);
  second.resize(std::min<std::size_t>(second.size(), kPageBytes));
  const std::vector<Bytes> pages{first, second};

  const auto kept = pages_kept_by_kernels(pages, level, against);
  std::vector<PageToRestore> to_restore;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    Bytes room(pages[i].size());
    const Lz4PageEntry expected = compress_lz4_page_reference(pages[i], level, room);
    room.resize(expected.bytes);
    require(kept[i].entry.kind == expected.kind && kept[i].entry.bytes == expected.bytes);
    require(kept[i].bytes == room);
    to_restore.push_back({kept[i].entry, kept[i].bytes, pages[i].size()});
  }
  // The second page's bytes as what was kept.
  Bytes claimed = second;
  if (legal_kept_page(hostile.kind, hostile.bytes, page_bytes)) claimed.resize(hostile.bytes);
  to_restore.push_back({hostile, claimed, page_bytes});
  const auto as_block = static_cast<std::uint32_t>(second.size());
  to_restore.push_back({{as_block, PageKind::kCompressed}, second, page_bytes});
  const auto restored = pages_restored_by_kernels(to_restore, against);
  for (std::size_t i = 0; i < restored.size(); ++i)
    require(restored[i] == page_restored_by_reference(to_restore[i]));
  for (std::size_t i = 0; i < pages.size(); ++i) require(restored[i].page == pages[i]);

  for (const Checksum kind : {Checksum::kXxh32, Checksum::kCrc32, Checksum::kAdler32}) {
    const auto checksums = checksums_by_kernels(kind, pages, against);
    for (std::size_t i = 0; i < pages.size(); ++i) require(checksums[i] == checksum_of(kind, pages[i]));
  }
  return 0;
}
