// A content that comes in pieces, searched in a bounded memory: what the searcher still needs of it stays, and what comes next is
// put behind that.
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
  // Gives larger memory instead of one that is full, or nothing where it cannot be larger; or throws.
  using MoreMemory = std::function<std::span<std::byte>()>;

  PieceSearch(LineSearcher& searcher, std::span<std::byte> memory, MoreMemory more_memory)
      : searcher_(searcher), memory_(memory), more_memory_(std::move(more_memory)) {}

  bool done() const { return searcher_.done(); }

  // Where what comes next belongs, until done(): at least a byte, and no more than stays in a core's cache.
  std::span<std::byte> room();
  // So much came. What is there is told at once where one may have to wait for more.
  void received(std::size_t bytes, bool tell_now);
  // The same of content that is somewhere else.
  void take(std::span<const std::byte> content);
  void finish();

 private:
  void search(LineSearcher::Piece piece);

  LineSearcher& searcher_;
  std::span<std::byte> memory_;
  MoreMemory more_memory_;
  std::size_t filled_bytes_ = 0;
  std::size_t searched_bytes_ = 0;  // of them, that wait for what comes next
};

// Restores a compressed stream, and searches what comes up to where nothing that follows would matter. Returns where bytes begin that are no
// frame, behind the last one, if they were met. Throws what restoring does; what came before was searched then.
std::optional<std::uint64_t> search_restored(Source& source, PieceSearch& pieces,
                                             const RestoreOptions& options);

}  // namespace hemstitch
