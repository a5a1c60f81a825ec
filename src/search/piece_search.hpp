// Searches content that comes in pieces, in bounded memory. What the searcher still needs stays, and what
// comes next is put after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "pipeline/stream.hpp"
#include "search/line_search.hpp"

namespace hemstitch {

class PieceSearch {
 public:
  // Returns larger memory in place of memory that is full, or nothing if there is none; may throw.
  using MoreMemory = std::function<std::span<std::byte>()>;

  PieceSearch(LineSearcher& searcher, std::span<std::byte> memory, MoreMemory more_memory)
      : searcher_(searcher), memory_(memory), more_memory_(std::move(more_memory)) {}

  bool done() const { return searcher_.done(); }

  // Where to put what comes next, until done(): at least a byte, and no more than fits into a core's cache.
  std::span<std::byte> room();
  // `bytes` bytes came. With `tell_now`, results are reported at once, since more may take a while.
  void received(std::size_t bytes, bool tell_now);
  // The same for content that is in other memory.
  void take(std::span<const std::byte> content);
  // Reports what there is, since more may take a while.
  void tell_now();
  void finish();

 private:
  void search(LineSearcher::Piece piece);

  LineSearcher& searcher_;
  std::span<std::byte> memory_;
  MoreMemory more_memory_;
  std::size_t filled_bytes_ = 0;
  std::size_t searched_bytes_ = 0;  // of these, the ones that wait for what comes next
};

// Restores a compressed stream and searches its content until nothing that follows can change the result.
// When the source pauses, it reports what there is and calls `paused`. Returns where bytes that are not a frame begin after the last frame, if it met any. Throws what restoring
// throws, after the content before was searched.
std::optional<std::uint64_t> search_restored(Source& source, PieceSearch& pieces,
                                             const RestoreOptions& options,
                                             const std::function<void()>& paused);

}  // namespace hemstitch
