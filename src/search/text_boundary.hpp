// Where a file stops being text for GNU grep (version 3.8, as its reads show).
//
// A file with a zero byte is binary, for grep from the buffer with the first zero byte on; lines that end
// before that buffer are text. So grep's buffers determine what it prints. The first has 96 KB. Each begins
// with the unfinished line of the one before, and grows by half if a line does not fit. This class follows
// these buffers over content that comes in pieces of any size. A hole in a file holds zeros, and grep looks
// for holes as soon as its first buffer is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hemstitch {

// The size of grep's first read, and the place from which on it looks for a hole.
inline constexpr std::uint64_t kFirstReadBytes = std::uint64_t{96} << 10;
// The bytes that end lines of a binary file.
inline constexpr std::string_view kBinaryLineEnds("\n\0", 2);

class TextBoundary {
 public:
  enum class Reads {
    kInBuffers,  // the content continues, and is read in buffers of grep's size
    kSoFar,      // it continues, and a buffer ends at the window's end
    kToEnd,      // the window ends at the content's end
  };
  struct Known {
    std::size_t text_bytes;  // of the window: these are lines of text
    bool binary;             // the bytes after them are binary; otherwise that is not known yet
  };

  // Whether the file has a hole after kFirstReadBytes.
  explicit TextBoundary(bool has_hole) : has_hole_(has_hole) {}

  // The window is the content from byte `begin` on; what is known to be text may have left it.
  Known look(std::string_view window, std::uint64_t begin, Reads reads);
  // After it was binary: the end, in the window, of the lines that grep's next buffer holds whole; nothing
  // if more content must come first. No line may have left the window before it was covered here.
  std::optional<std::size_t> next_binary_buffer(std::string_view window, std::uint64_t begin, Reads reads);

 private:
  void begin_buffer();
  void end_buffer(std::string_view window, std::uint64_t begin, std::uint64_t end);

  bool has_hole_;
  std::uint64_t looked_bytes_ = 0;
  std::optional<std::uint64_t> zero_;  // the first one, if met
  std::optional<std::uint64_t> binary_from_;
  std::uint64_t passed_bytes_ = 0;      // in buffers without a zero
  std::uint64_t unfinished_bytes_ = 0;  // the line that they end in
  std::uint64_t buffer_bytes_ = 0;
  std::uint64_t next_end_ = 0;  // of the buffer that is being examined
};

}  // namespace hemstitch
