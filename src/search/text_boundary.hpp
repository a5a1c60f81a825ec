// Where a file stops being text, as GNU grep sees it (3.8, as its reads show).
//
// A file that holds a zero byte is binary, for grep from the buffer on in which it meets the first; lines that end before
// that buffer are text. Its buffers are therefore part of what it prints: first 96 KB, each beginning with the unfinished
// line of the last one, and growing by half where a line does not fit. Here they are followed over content that comes in
// pieces, whatever these are. A hole in a file holds zeros, and grep asks for holes as soon as its first buffer is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hemstitch {

// What grep reads at first, and the place from which on it asks for a hole.
inline constexpr std::uint64_t kFirstReadBytes = std::uint64_t{96} << 10;
// What ends lines of a binary file.
inline constexpr std::string_view kBinaryLineEnds("\n\0", 2);

class TextBoundary {
 public:
  enum class Reads {
    kInBuffers,  // the content goes on, and is read in buffers of grep's size
    kSoFar,      // it goes on, and a buffer ends where the window does
    kToEnd,      // the window ends where the content does
  };
  struct Known {
    std::size_t text_bytes;  // of the window: they are lines of text
    bool binary;             // what follows them is not; otherwise that is not known yet
  };

  // Whether the file has a hole behind kFirstReadBytes.
  explicit TextBoundary(bool has_hole) : has_hole_(has_hole) {}

  // The window is the content from byte `begin` on; what was told to be text may have left it.
  Known look(std::string_view window, std::uint64_t begin, Reads reads);
  // Once it is binary: where in the window the lines end that the next of grep's buffers holds whole; nothing where it has to come
  // first. No line may have left the window that was not told of here.
  std::optional<std::size_t> next_binary_buffer(std::string_view window, std::uint64_t begin, Reads reads);

 private:
  void begin_buffer();
  void end_buffer(std::string_view window, std::uint64_t begin, std::uint64_t end);

  bool has_hole_;
  std::uint64_t looked_bytes_ = 0;
  std::optional<std::uint64_t> zero_;  // the first, once met
  std::optional<std::uint64_t> binary_from_;
  std::uint64_t passed_bytes_ = 0;      // in buffers without a zero
  std::uint64_t unfinished_bytes_ = 0;  // the line that they end in
  std::uint64_t buffer_bytes_ = 0;
  std::uint64_t next_end_ = 0;  // of the buffer that is looked at
};

}  // namespace hemstitch
