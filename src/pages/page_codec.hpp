// Compresses and restores one page or a few on the processor. Same-filled pages are found by comparing; the
// cpu engine does the others. Any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/backend.hpp"
#include "format/kept_page.hpp"
#include "hemstitch/pages.hpp"

namespace hemstitch {

// Whether every byte equals the one 8 bytes before it.
bool same_filled(std::span<const std::byte> page);
void fill_page(std::span<const std::byte> word, std::span<std::byte> page);

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
