// The report on a file, and where it goes: before the file's turn into memory, in its turn straight to the
// output.
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
  bool trouble = false;  // the complaint is about an error
  bool in_any_case =
      false;  // it is printed even with -s, which hides complaints about files that cannot be read
  bool begins_group = false;   // a separator precedes its first lines, after those of an earlier file
  bool sets_off_next = false;  // a separator precedes the next file's lines
  std::optional<std::uint64_t> stopped_at;  // the end of the last line that -m allows
  std::size_t counted_bytes = 0;            // of the output, as counted by the room that it waits in
};

// Thrown if a file needs more than there is before its turn.
struct MustWait {};

class SearchRoom {
 public:
  // How much a report's output may grow before the room is told.
  static constexpr std::size_t kSmallBytes = std::size_t{64} << 10;

  virtual ~SearchRoom() = default;
  // The output has grown since it was last counted.
  virtual void grown(FileReport& report) = 0;
  // More output may take a while: what there is should be shown, if it is the file's turn.
  virtual void paused(FileReport& /*report*/) {}
  // Appends a long text at once.
  virtual void add_long(FileReport& report, std::string_view text) = 0;
  // Adds a complaint that is not the last one.
  virtual void complain(FileReport& report, const std::string& complaint) = 0;
  // Whether lines were printed before those of the report.
  virtual bool lines_before() const = 0;
  // Memory for a piece that does not fit into a thread's; nothing if there is none larger.
  virtual std::span<std::byte> more_memory() = 0;
  // How much of all memory for restoring may be used.
  virtual std::uint64_t restoring_bytes(std::uint64_t all_bytes) const = 0;
};

}  // namespace hemstitch::cli
