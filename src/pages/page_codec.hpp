// One page or a few, compressed and restored by the processor: same-filled pages are found by comparing, the others are the cpu
// engine's. Any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/backend.hpp"
#include "hemstitch/pages.hpp"

namespace hemstitch {

// What a same-filled page is kept as.
inline constexpr std::uint32_t kPageWordBytes = 8;

// Whether every byte equals the one 8 before it.
bool same_filled(std::span<const std::byte> page);
void fill_page(std::span<const std::byte> word, std::span<std::byte> page);

// Whether a page of `page_bytes` bytes can have been kept so.
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

// Every page that was kept as an LZ4 block, so that a device's kernel for blocks restores all kinds: a word as literals and one match, a raw page as
// literals alone (LZ4 block format). `block` has room for most_block_bytes(). Returns its bytes.
constexpr std::uint32_t most_block_bytes(std::uint32_t page_bytes) {
  return page_bytes + page_bytes / 255 + 16;
}
std::uint32_t write_as_block(PageKind kind, std::span<const std::byte> kept, std::uint32_t page_bytes,
                             std::byte* block);

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

  // What became of a task whose room was a byte less than a page, without copying.
  static PageForm form_of(const BlockTask& task);

  // `room` has page_bytes. Of a raw page nothing is written there: it is the page.
  PageForm compress(std::span<const std::byte> page, std::span<std::byte> room) const;
  // kCorruptBlock for what is no page.
  Status restore(PageKind kind, std::span<const std::byte> kept, std::span<std::byte> page) const;

 private:
  std::uint32_t page_bytes_;
  int level_;
  std::unique_ptr<BlockEngine> engine_;
};

// Throws kInvalidOption.
void check_page_options(const PageBatchOptions& options);

}  // namespace hemstitch
