// What compressing, restoring, testing and listing are asked to do.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/files/output_tree.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch::cli {

enum class Action { kCompress, kRestore, kTest, kList, kHelp, kVersion };

// Half-open, in bytes of the content; an end past the content's means that one.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::uint64_t> last;  // instead: so many bytes before the content's end
};

// Of a BGZF file, as its indexes have places: where a member begins in the file, times 65536, and a byte of its content.
struct VirtualRange {
  std::uint64_t begin = 0;
  std::optional<std::uint64_t> end;
};

inline constexpr const char* kStandardStream = "-";

struct Request {
  Action action = Action::kCompress;
  std::vector<std::string> files;  // "-" for standard input; never empty for compress, restore, test and list

  bool to_stdout = false;
  std::string output_path;              // empty: named after the input
  std::shared_ptr<OutputTree> outputs;  // nothing: each beside its source
  bool force = false;
  bool compress_again = false;  // files that have Hemstitch's suffix already
  bool recursive = false;
  bool remove_source = false;
  bool sync = true;  // outputs to the disk, before their sources are removed
  bool sparse = true;
  bool quiet = false;
  int verbosity = 0;  // how often -v was given; 0 with -q

  CompressOptions compress;
  RestoreOptions restore;
  std::string dictionary_path;  // empty: none
  std::optional<ByteRange> range;
  std::optional<VirtualRange> virtual_range;
  bool with_name = false;    // -N: what a header keeps of the file's name and time counts, or is stored there
  bool write_index = false;  // beside what is compressed: BGZF's, or restoring gzip's

  bool json = false;  // of list
};

}  // namespace hemstitch::cli
