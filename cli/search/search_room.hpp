// What is said of a file, and where it goes: ahead of the file's turn into memory, in its turn straight to where it belongs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hemstitch::cli {

struct FileReport {
  std::string output;
  std::string complaint;  // after the file's name, on stderr, when the output is written
  bool found = false;
  bool trouble = false;                     // the complaint is of an error
  bool in_any_case = false;                 // and not of something that cannot be read, which -s leaves out
  bool begins_group = false;                // its first lines are set off from those of a file before it
  bool sets_off_next = false;               // and the next ones from it
  std::optional<std::uint64_t> stopped_at;  // the end of the last line that -m asks for
  std::size_t counted_bytes = 0;            // of the output, by the room that it waits in
};

// Thrown where a file asks for more than there is ahead of its turn.
struct MustWait {};

class SearchRoom {
 public:
  // By so much a report's output grows before the room hears of it.
  static constexpr std::size_t kSmallBytes = std::size_t{64} << 10;

  virtual ~SearchRoom() = default;
  // The output has grown by that since it was last counted.
  virtual void grown(FileReport& report) = 0;
  // Adds so much text at once.
  virtual void add_long(FileReport& report, std::string_view text) = 0;
  // Says what is not the last thing to be said.
  virtual void complain(FileReport& report, const std::string& complaint) = 0;
  // Lines were shown before those of the report.
  virtual bool lines_before() const = 0;
  // Memory for a piece that does not fit into a thread's; nothing where it is as large already.
  virtual std::span<std::byte> more_memory() = 0;
  // Buffers for restoring, of all that there may be.
  virtual std::uint64_t restoring_bytes(std::uint64_t all_bytes) const = 0;
};

}  // namespace hemstitch::cli
