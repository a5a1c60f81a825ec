// Text search: where fixed strings stand, and the lines that hold them, in memory, in files and in the memory of a device. It is what the
// command `hemstitch search` does, without its printing: the lines are those that GNU grep -F selects in the C locale.
//
//   const hemstitch::TextSearcher searcher({.patterns = {"error", "warning"}, .ignore_case = true});
//   for (const auto& line : searcher.search(text).lines) show(line.number, line.text);
//
// Many texts at once, on a GPU:
//
//   const hemstitch::TextSearcher searcher({.patterns = {"error"}, .backend = "cuda"});
//   const hemstitch::CompactedBuffer files = hemstitch::load_files(paths);
//   const auto texts = searcher.search(files.bytes(), files.offsets());  // one result for each of them
//
// A pattern stands at a position whatever lies before and behind it. Where several stand at one, the longest counts. A line ends at '\n'; in
// the binary part of a text, which begins where grep's buffer with the first zero byte does, also at a zero byte.
//
// Errors are thrown as hemstitch::Error: kInvalidOption names the option, kUnknownBackend and kDeviceUnavailable say why a device cannot be
// used; a device that fails meanwhile throws its family's. Thread safety: any number of threads may use one TextSearcher; calls that need its
// device take turns. Results depend on the texts and the options alone, never on the backend or on threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hemstitch/hemstitch.hpp"
#include "hemstitch/webgpu.hpp"

struct CUstream_st;  // what a cudaStream_t points to

namespace hemstitch {

struct SearchOptions {
  enum class Wanted {
    kLines,    // and their number
    kCount,    // of lines
    kWhether,  // a line is selected: the count is 0 or 1
  };
  enum class Binary {
    kTold,    // a line selected in a binary part is counted and told by in_binary, never given
    kText,    // there is no such part: zero bytes are as any other
    kNoMatch  // a text with such a part holds no line
  };

  // At least one; up to 65,535 bytes each. An empty one stands in every line.
  std::vector<std::string> patterns;
  bool ignore_case = false;               // letters a-z match both cases
  bool whole_words = false;               // where no letter, digit or underscore stands beside the pattern
  bool whole_lines = false;               // where the pattern is the whole line; goes before whole_words
  bool invert = false;                    // the lines without a match are selected
  std::uint64_t most_lines = UINT64_MAX;  // are selected in a text
  Wanted wanted = Wanted::kLines;
  Binary binary = Binary::kTold;
  std::uint64_t before = 0, after = 0;  // lines that are given with each selected one
  bool matches = false;                 // where in the lines they stand, too
  bool decompress = false;  // of texts that are compressed frames, what these restore to is searched
  // Where search() and find() look: "auto" is the processor, which searches as fast as it reads; "cuda" and "webgpu" serve those whose texts are
  // there, or are many. Lines are always made by the processor.
  std::string backend = "auto";
  std::string device = {};  // as CompressOptions::device
  unsigned threads = 0;     // of the processor; 0: one a core
};

struct SearchMatch {
  std::uint64_t position;  // in the text or line
  std::uint32_t bytes;     // of the longest pattern that stands there
  friend bool operator==(const SearchMatch&, const SearchMatch&) = default;
};

struct SearchedLine {
  std::uint64_t number = 0;  // from 1
  std::uint64_t byte = 0;    // of the line's first in the text
  std::string text;          // without the line's end
  bool selected = true;      // rather than given for one that is
  // With SearchOptions::matches: from left to right, none overlapping another; none where the line does not match.
  std::vector<SearchMatch> matches;
};

struct SearchedText {
  std::uint64_t count = 0;  // of selected lines
  std::vector<SearchedLine> lines;
  bool in_binary = false;  // a line of the binary part is selected, which is not given
  std::string error;       // search_files(): why not all of the file was searched
};

// Texts in the memory of a CUDA device: of files brought there by load_files(), for example.
struct CudaTexts {
  const std::byte* d_bytes = nullptr;  // at any address
  std::uint64_t bytes = 0;             // of all texts; below 2^48
  // Where texts begin, ascending, and behind the last its end: count + 1 elements, from 0 to `bytes`.
  const std::uint64_t* d_offsets = nullptr;
  std::uint64_t count = 0;
};

// Texts in a buffer of a WebGPU device: of files brought there by load_files(), for example.
struct WebgpuTexts {
  void* bytes = nullptr;  // WGPUBuffer, whose size is a multiple of 16, with the usage COPY_SRC
  std::span<const std::uint64_t> offsets;  // on the host: from 0 to the end of the last text
};

class HEMSTITCH_API TextSearcher {
 public:
  explicit TextSearcher(const SearchOptions& options);
  // On that device, whatever the options say of one.
  TextSearcher(const SearchOptions& options, const WebgpuDevice& device);
  ~TextSearcher();
  TextSearcher(TextSearcher&&) noexcept;
  TextSearcher& operator=(TextSearcher&&) noexcept;

  // Of one text, by the calling thread, on the processor.
  SearchedText search(std::string_view text) const;

  // Of texts that lie one behind the other, text i from offsets[i] to offsets[i + 1]: one result each. Offsets ascend from 0 to the end.
  std::vector<SearchedText> search(std::span<const std::byte> texts,
                                   std::span<const std::uint64_t> offsets) const;

  // Of files of any size, by `threads` threads, on the processor. Each is read piece by piece up to the end that is met: 256 KB of memory for
  // each thread, or twice the longest line. What cannot be read, or restored, is told in its result, which has what was found before.
  std::vector<SearchedText> search_files(std::span<const std::string> paths) const;

  // Every position of the texts at which a pattern stands, ascending; matches may overlap, and reach from no text into the next. Words, lines and
  // other options that select lines say nothing here, and an empty pattern stands nowhere.
  std::vector<SearchMatch> find(std::span<const std::byte> texts,
                                std::span<const std::uint64_t> offsets) const;

  // The same of texts that are on the searcher's WebGPU device, behind all that is queued there; waits. Throws kInvalidOption where it has
  // none, or there is no pattern but the empty one.
  std::vector<SearchMatch> find(const WebgpuTexts& texts) const;

  // The same on the device of backend "cuda", of texts that are there, without waiting: counted, then written.
  //
  //   searcher.count_async(texts, d_count, d_temp, temp_bytes, stream);
  //   ... *d_count is read, or known to be at most `room` ...
  //   searcher.write_async(texts, d_matches, room, d_temp, temp_bytes, stream);
  //
  // Both are steps of the stream, may be captured in a graph, and allocate nothing. The device is the searcher's, which is made the thread's current
  // one. A match is position << 16 | bytes; matches 0 up to min(*d_count, room) are written. Throw kInvalidOption where the searcher has
  // another backend, there is no pattern but the empty one, or `temp_bytes` is less than temp_bytes() says.
  std::size_t temp_bytes(const CudaTexts& texts) const;
  void count_async(const CudaTexts& texts, std::uint64_t* d_count, void* d_temp, std::size_t temp_bytes,
                   CUstream_st* stream) const;
  void write_async(const CudaTexts& texts, std::uint64_t* d_matches, std::uint64_t room, void* d_temp,
                   std::size_t temp_bytes, CUstream_st* stream) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hemstitch
