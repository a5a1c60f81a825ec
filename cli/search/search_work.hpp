// How search handles one file, in either way of going through files: ahead of its turn if possible, otherwise
// in its turn.
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

// The report of a folder that could not be read.
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
  // The searcher of the calling thread.
  FileSearcher& searcher() { return searchers_.local(); }

  enum class Left { kNothing, kPieces, kTurn };
  // Appends to the report, and returns what is left to do: nothing, everything piece by piece, or
  // everything in its turn. Any number of threads.
  Left search_small(const InputFile& file, const std::string& path, const FolderOfFiles& folder,
                    FileReport& report);
  Left search_pieces(const InputFile& file, FileReport& report);
  // For content in memory, with its matches if they are known.
  Left search_content(const std::string& name, std::span<const std::byte> content, bool has_hole,
                      std::optional<MatchCursor> matches, FileReport& report);
  // If search_content() leaves pieces: searches what the content, a compressed stream, restores to.
  Left search_compressed(const std::string& name, std::span<const std::byte> content, FileReport& report);
  // Like an empty file: it can be opened, but not read.
  void report_folder(const std::string& path, FileReport& report);

  // If matches are enough: for content that is not in memory.
  void report_whether(const std::string& name, bool any, FileReport& report);
  // For a file that was read whole.
  bool has_hole(const std::string& path, std::span<const std::byte> content) const;
  bool refuses_output(const std::string& path, FileReport& report) const;

  // Call it when all files before it were reported. One thread at a time.
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
