// What to do when compressing, restoring, testing and listing.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/files/output/output_tree.hpp"
#include "cli/files/walk/name_rules.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch::cli {

enum class Action { kCompress, kRestore, kTest, kList, kHelp, kShortHelp, kCommandHelp, kVersion };

// Half-open, in bytes of the content; an end after the content means the content's end.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::uint64_t> last;  // instead: this many bytes before the content's end
};

// Of a BGZF file, in the form of its indexes: the place where a member begins in the file, times 65536, plus
// a byte of its content.
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
  std::string suffix;                   // of compressed files; empty: the format's
  std::shared_ptr<OutputTree> outputs;  // null: each beside its source
  bool force = false;
  bool compress_again = false;  // files that are compressed already, as any other
  bool recursive = false;
  bool any_format = false;  // with -r, when not compressing: files of every format
  NameRules name_rules;     // for all files
  bool remove_source = false;
  bool sync = true;  // outputs go to the disk before their sources are removed
  bool sparse = true;
  bool quiet = false;
  int verbosity = 0;  // how often -v was given; 0 with -q

  CompressOptions compress;
  RestoreOptions restore;
  std::string dictionary_path;  // empty: none
  std::optional<ByteRange> range;
  std::optional<VirtualRange> virtual_range;
  bool with_name = false;    // -N: use the name and time in a header, or store them there
  bool write_index = false;  // beside the compressed file: BGZF's, or when restoring gzip's
  std::string index_path;    // empty: beside the compressed file, named after it

  bool json = false;  // for list
};

}  // namespace hemstitch::cli
