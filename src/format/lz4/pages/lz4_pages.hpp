// Pages: blocks of at most 4096 bytes that are kept one by one, each with its size and its kind beside it.
//
// A page that does not shrink is kept raw, and a page that repeats one word of eight bytes is kept as that word. Neither
// can be told from the size alone (a compressed page may have 4095 bytes as a shorter raw one has, and 8 bytes as a word
// has), so a page entry says which it is:
//
//   same-filled  page_bytes > 8, and every byte equals the one 8 before it: the first 8 bytes
//   compressed   an LZ4 block with fewer bytes than the page
//   raw          the page itself
//
// The first of these that holds is taken, so an entry follows from the page's bytes alone. Restoring treats an entry as hostile.
// These are corrupt: another kind, a raw page whose size is not the page's, a word that does not have 8 bytes or stands for a page
// of 8 or fewer, and a compressed page that is not smaller than its page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/page.hpp"
#include "core/status.hpp"
#include "format/kept_page.hpp"
#include "format/lz4/lz4_levels.hpp"

namespace hemstitch {

struct Lz4PageEntry {
  std::uint32_t bytes = 0;  // as kept
  PageKind kind = PageKind::kRaw;
};

// A page is never kept in more bytes than it has, so `output` needs the page's size.
Lz4PageEntry compress_lz4_page_reference(std::span<const std::byte> page, const Lz4Level& level,
                                         std::span<std::byte> output);

// `page` has exactly the bytes that the page had; kCorruptBlock for an entry that is not legal, and for a compressed page
// that does not restore to exactly them.
Status restore_lz4_page_reference(const Lz4PageEntry& entry, std::span<const std::byte> kept,
                                  std::span<std::byte> page);

}  // namespace hemstitch
