// The forms in which a page is kept, and a kept page as an LZ4 block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/host_device.hpp"
#include "hemstitch/pages.hpp"

namespace hemstitch {

// The bytes that are kept of a same-filled page.
inline constexpr std::uint32_t kPageWordBytes = 8;

// Whether a page of `page_bytes` bytes may be kept as so many bytes of that kind.
HEMSTITCH_HOST_DEVICE constexpr bool legal_kept_page(PageKind kind, std::uint32_t bytes,
                                                     std::size_t page_bytes) {
  switch (kind) {
    case PageKind::kCompressed:
      return bytes < page_bytes;
    case PageKind::kRaw:
      return bytes == page_bytes;
    case PageKind::kSameFilled:
      return bytes == kPageWordBytes && page_bytes > kPageWordBytes;
  }
  return false;
}

// Writes any kept page as an LZ4 block, so that a device's kernel for blocks restores all kinds. A
// same-filled page becomes literals and one match, a raw page only literals. `block` has room for
// most_block_bytes(). Returns the block's size.
constexpr std::uint32_t most_block_bytes(std::uint32_t page_bytes) {
  return page_bytes + page_bytes / 255 + 16;
}
std::uint32_t write_as_block(PageKind kind, std::span<const std::byte> kept, std::uint32_t page_bytes,
                             std::byte* block);

// Whether an LZ4 block restores to a same-filled page of `page_bytes` bytes, found without restoring it. `word` is then
// what the page repeats, else unspecified. The block may have any content.
bool restores_same_filled(std::span<const std::byte> block, std::uint32_t page_bytes,
                          std::span<std::byte, kPageWordBytes> word);

}  // namespace hemstitch
