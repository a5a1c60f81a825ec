#include <algorithm>

#include "format/lz4/compress/lz4_compress_reference.hpp"
#include "format/lz4/pages/lz4_pages.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"

namespace hemstitch {
namespace {

bool same_filled(std::span<const std::byte> page) {
  return page.size() > kPageWordBytes && std::equal(page.begin() + kPageWordBytes, page.end(), page.begin());
}

}  // namespace

Lz4PageEntry compress_lz4_page_reference(std::span<const std::byte> page, const Lz4Level& level,
                                         std::span<std::byte> output) {
  if (same_filled(page)) {
    std::copy_n(page.begin(), kPageWordBytes, output.begin());
    return {kPageWordBytes, PageKind::kSameFilled};
  }
  const std::size_t room = page.empty() ? 0 : page.size() - 1;
  const EncodedBlock encoded = compress_lz4_block_reference({page, 0}, level, output.first(room));
  if (encoded.status == Status::kOk)
    return {static_cast<std::uint32_t>(encoded.bytes), PageKind::kCompressed};
  std::copy(page.begin(), page.end(), output.begin());
  return {static_cast<std::uint32_t>(page.size()), PageKind::kRaw};
}

Status restore_lz4_page_reference(const Lz4PageEntry& entry, std::span<const std::byte> kept,
                                  std::span<std::byte> page) {
  if (!legal_kept_page(entry.kind, entry.bytes, page.size()) || kept.size() != entry.bytes)
    return Status::kCorruptBlock;
  switch (entry.kind) {
    case PageKind::kRaw:
      std::copy(kept.begin(), kept.end(), page.begin());
      return Status::kOk;
    case PageKind::kSameFilled:
      for (std::size_t i = 0; i < page.size(); ++i) page[i] = kept[i % kPageWordBytes];
      return Status::kOk;
    case PageKind::kCompressed:
      break;
  }
  const DecodedBlock decoded = restore_lz4_block_reference(kept, {}, page);
  return decoded.status == Status::kOk && decoded.bytes == page.size() ? Status::kOk : Status::kCorruptBlock;
}

}  // namespace hemstitch
