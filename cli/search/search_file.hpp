// One thread searches one file after the other in memory that it keeps: small files whole, others piece by
// piece.
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

// Memory that threads share. A thread that wants more than there is waits until others have returned theirs.
// A thread that holds some never waits.
class SharedMemory {
 public:
  explicit SharedMemory(std::uint64_t bytes) : bytes_(bytes), left_bytes_(bytes) {}
  std::uint64_t bytes() const { return bytes_; }

  class Share {
   public:
    // At most what exists in total.
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

  // Where to read a small file that is to be searched whole.
  std::span<std::byte> small_file_room() const;

  // The functions below append to the report, and throw MustWait.

  // With the matches, if they are known. Returns false if the content must be restored piece by piece.
  [[nodiscard]] bool search_whole(const std::string& name, std::span<const std::byte> content, bool has_hole,
                                  std::optional<MatchCursor> matches, FileReport& report);
  void search_pieces(const std::string& name, const Descriptor& file, const struct stat& status,
                     FileReport& report);
  // Searches the content of a compressed stream.
  void search_restored(const std::string& name, Source& source, FileReport& report);

 private:
  std::span<std::byte> piece() const { return {piece_.get(), memory_.piece_bytes}; }
  void restore(Source& source, PieceSearch& pieces, FileReport& report);
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
