// What search does with one file, whichever way it goes through them: ahead of the file's turn where that can be, else in it.
#pragma once

#include <sys/stat.h>
#include <tbb/enumerable_thread_specific.h>

#include <optional>
#include <string>

#include "cli/files/input_file.hpp"
#include "cli/search/search_file.hpp"
#include "cli/search/search_inputs.hpp"
#include "cli/search/search_memory.hpp"
#include "cli/search/search_report.hpp"
#include "cli/search/search_request.hpp"
#include "cli/search/search_teller.hpp"

namespace hemstitch::cli {

// That a folder could not be read.
FileReport complaint_of(const WalkRun& run);

class SearchWork {
 public:
  // Nothing is copied.
  SearchWork(const SearchRequest& request, const SearchPlan& plan, const SearchMemory& memory,
             bool with_names);

  const SearchRequest& request() const { return request_; }
  const SearchMemory& memory() const { return memory_; }
  const Reporter& reporter() const { return reporter_; }
  Teller& teller() { return teller_; }
  WaitingRoom& waiting() { return waiting_; }
  // The calling thread's.
  FileSearcher& searcher() { return searchers_.local(); }

  enum class Left { kNothing, kPieces, kTurn };
  // Appends to the report, and says what is left to do: nothing, or all of it piece by piece, or in its turn. Any number of threads.
  Left search_small(const InputFile& file, const std::string& path, const FolderOfFiles& folder,
                    FileReport& report);
  Left search_pieces(const InputFile& file, FileReport& report);
  // A content that is in memory already, with its matches where they are known.
  Left search_content(const std::string& name, std::span<const std::byte> content, bool has_hole,
                      std::optional<MatchCursor> matches, FileReport& report);
  // Where that leaves pieces: what the content, a compressed stream, restores to.
  Left search_compressed(const std::string& name, std::span<const std::byte> content, FileReport& report);
  // Like an empty file, which can be opened, and cannot be read.
  void report_folder(const std::string& path, FileReport& report);

  // Where matches are enough: of a content that is not here.
  void report_whether(const std::string& name, bool any, FileReport& report);
  // Of a file that was read as a whole.
  bool has_hole(const std::string& path, std::span<const std::byte> content) const;
  bool refuses_output(const std::string& path, FileReport& report) const;

  // When all files before it were told. One thread at a time.
  void search_in_turn(const InputFile& file);

 private:
  bool is_output(const struct stat& file) const;
  bool is_searched(const Descriptor& file, struct stat& status, FileReport& report) const;
  template <class Search>
  Left unless_it_must_wait(FileReport& report, const Search& search);

  const SearchRequest& request_;
  const SearchMemory& memory_;
  Reporter reporter_;
  SharedMemory restoring_;
  WaitingRoom waiting_;
  Teller teller_;
  tbb::enumerable_thread_specific<FileSearcher> searchers_;
  FileSearcher in_turn_;
  std::optional<struct stat> output_;
};

}  // namespace hemstitch::cli
