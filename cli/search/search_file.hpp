// One file after another searched by one thread, in memory that it keeps: whole contents, and others piece by piece.
#pragma once

#include <sys/stat.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "cli/search/search_memory.hpp"
#include "cli/search/search_report.hpp"
#include "core/descriptor.hpp"
#include "core/large_buffer.hpp"
#include "search/compressed_texts.hpp"
#include "search/piece_search.hpp"
#include "search/search_source.hpp"

namespace hemstitch::cli {

// Memory that threads share: who wants more than there is waits until others have given back theirs. Nobody who has some waits
// for anybody.
class SharedMemory {
 public:
  explicit SharedMemory(std::uint64_t bytes) : bytes_(bytes), left_bytes_(bytes) {}
  std::uint64_t bytes() const { return bytes_; }

  class Share {
   public:
    // No more than there is.
    Share(SharedMemory& memory, std::uint64_t bytes);
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    SharedMemory& memory_;
    std::uint64_t bytes_;
  };

 private:
  std::uint64_t bytes_, left_bytes_;
  std::mutex mutex_;
  std::condition_variable given_back_;
};

class FileSearcher {
 public:
  // Nothing is copied.
  FileSearcher(const SearchRequest& request, const Reporter& reporter, const SearchMemory& memory,
               SharedMemory& restoring, SearchRoom& room);

  // Where a small file may be read to, to be searched as a whole.
  std::span<std::byte> small_file_room() const;

  // Those below append to the report, and throw MustWait.

  // With the matches, where they are known. False where the content is to be restored piece by piece.
  [[nodiscard]] bool search_whole(const std::string& name, std::span<const std::byte> content, bool has_hole,
                                  std::optional<MatchCursor> matches, FileReport& report);
  void search_pieces(const std::string& name, const Descriptor& file, const struct stat& status,
                     FileReport& report);
  // Of a compressed stream's content.
  void search_restored(const std::string& name, Source& source, FileReport& report);

 private:
  std::span<std::byte> piece() const { return {piece_.get(), memory_.piece_bytes}; }
  void restore(Source& source, PieceSearch& pieces);
  template <class Feed>
  void search_fed(const std::string& name, bool has_hole, FileReport& report, const Feed& feed);

  const SearchRequest& request_;
  const Reporter& reporter_;
  const SearchMemory& memory_;
  SharedMemory& restoring_;
  SearchRoom& room_;
  LargeBuffer piece_;
  TextRestorer restorer_;
};

}  // namespace hemstitch::cli
