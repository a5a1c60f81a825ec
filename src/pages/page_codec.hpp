// Compresses and restores one page or a few on the processor. Same-filled pages are found by comparing; the
// cpu engine does the others. Any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/backend.hpp"
#include "hemstitch/pages.hpp"

namespace hemstitch {

// The bytes that are kept of a same-filled page.
inline constexpr std::uint32_t kPageWordBytes = 8;

// Whether every byte equals the one 8 bytes before it.
bool same_filled(std::span<const std::byte> page);
void fill_page(std::span<const std::byte> word, std::span<std::byte> page);

// Whether a page of `page_bytes` bytes may be kept in this form.
constexpr bool legal_kept_page(PageKind kind, std::uint32_t bytes, std::uint32_t page_bytes) {
  switch (kind) {
    case PageKind::kCompressed:
      return bytes < page_bytes;
    case PageKind::kRaw:
      return bytes == page_bytes;
    case PageKind::kSameFilled:
      return bytes == kPageWordBytes;
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

struct PageForm {
  PageKind kind = PageKind::kRaw;
  std::uint32_t bytes = 0;
};

class PageCodec {
 public:
  PageCodec(std::uint32_t page_bytes, int level);

  std::uint32_t page_bytes() const { return page_bytes_; }
  EncodeParameters parameters() const;
  BlockEngine& engine() const { return *engine_; }

  // The form of a page after a task whose room was one byte less than a page. Copies nothing.
  static PageForm form_of(const BlockTask& task);

  // `room` has page_bytes. For a raw page nothing is written there: the page itself is kept.
  PageForm compress(std::span<const std::byte> page, std::span<std::byte> room) const;
  // kCorruptBlock if `kept` is invalid.
  Status restore(PageKind kind, std::span<const std::byte> kept, std::span<std::byte> page) const;

 private:
  std::uint32_t page_bytes_;
  int level_;
  std::unique_ptr<BlockEngine> engine_;
};

// Throws kInvalidOption.
void check_page_options(const PageBatchOptions& options);

}  // namespace hemstitch
