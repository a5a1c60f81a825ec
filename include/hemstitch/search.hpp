// Text search: finds fixed strings, and the lines that contain them, in memory, in files and in the memory of
// a device. It is the search of the command `hemstitch search`, without the printing: it selects the same
// lines as GNU grep -F in the C locale.
//
//   const hemstitch::TextSearcher searcher({.patterns = {"error", "warning"}, .ignore_case = true});
//   for (const auto& line : searcher.search(text).lines) show(line.number, line.text);
//
// Many texts at once, on a GPU:
//
//   const hemstitch::TextSearcher searcher({.patterns = {"error"}, .backend = "cuda"});
//   const hemstitch::CompactedBuffer files = hemstitch::load_files(paths);
//   const auto texts = searcher.search(files.bytes(), files.offsets());  // one result per file
//
// A pattern matches at a position whatever is before and after it. If several patterns match at the same
// position, the longest counts. A line ends at '\n'. In the binary part of a text, a line also ends at a zero
// byte. That part begins where grep's buffer with the first zero byte begins; a text without zero bytes has
// none.
//
// Errors are thrown as hemstitch::Error. kInvalidOption names the option; kUnknownBackend and
// kDeviceUnavailable say why a device cannot be used; a device that fails later throws an error of the device
// family.
//
// Thread safety: any number of threads may use one TextSearcher at once; calls that need its device take
// turns. Results depend only on the texts and the options, never on the backend or threads.
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
    kLines,    // the selected lines and their number
    kCount,    // the number of selected lines
    kWhether,  // whether any line is selected: the count is 0 or 1
  };
  enum class Binary {
    kTold,    // selected lines in a binary part are counted and reported by in_binary, but not returned
    kText,    // no binary part: zero bytes are like any other byte
    kNoMatch  // in a text with a binary part no line is selected
  };

  // At least one; up to 65,535 bytes each. An empty pattern matches in every line.
  std::vector<std::string> patterns;
  bool ignore_case = false;               // letters a-z match both cases
  bool whole_words = false;               // no letter, digit or underscore may be next to the match
  bool whole_lines = false;               // the match must be the whole line; overrides whole_words
  bool invert = false;                    // select the lines without a match
  std::uint64_t most_lines = UINT64_MAX;  // select at most this many lines of a text
  Wanted wanted = Wanted::kLines;
  Binary binary = Binary::kTold;
  std::uint64_t before = 0, after = 0;  // context: lines returned before and after each selected line
  bool matches = false;                 // also return where in the lines the matches are
  bool decompress = false;              // in texts that are compressed frames, search the content
  // The backend of search() and find(). "auto" is the processor, which searches as fast as it reads. "cuda"
  // and "webgpu" are for texts that are already on a device, or that are many. Lines are always made by the
  // processor.
  std::string backend = "auto";
  std::string device = {};  // as CompressOptions::device
  unsigned threads = 0;     // of the processor; 0: one per core
  // For searches and finds by the processor. A device searches all texts of a call at once.
  BetweenPieces between_pieces = {};
};

struct SearchMatch {
  std::uint64_t position;  // in the text or the line
  std::uint32_t bytes;     // length of the longest pattern that matches there
  friend bool operator==(const SearchMatch&, const SearchMatch&) = default;
};

struct SearchedLine {
  std::uint64_t number = 0;  // counted from 1
  std::uint64_t byte = 0;    // position of the line's first byte in the text
  std::string text;          // without the end-of-line byte
  bool selected = true;      // false: a context line
  // With SearchOptions::matches: from left to right, without overlaps; empty if the line does not match.
  std::vector<SearchMatch> matches;
};

struct SearchedText {
  std::uint64_t count = 0;  // number of selected lines
  std::vector<SearchedLine> lines;
  bool in_binary = false;  // a line in the binary part is selected; it is not returned
  std::string error;       // search_files(): why not all of the file was searched
};

// Texts in the memory of a CUDA device, for example files that load_files() loaded there.
struct CudaTexts {
  const std::byte* d_bytes = nullptr;  // device, any alignment
  std::uint64_t bytes = 0;             // of all texts together; below 2^48
  // Device: where each text begins, then where the last one ends: count + 1 elements, ascending, from 0 to
  // `bytes`.
  const std::uint64_t* d_offsets = nullptr;
  std::uint64_t count = 0;
};

// Texts in a buffer of a WebGPU device, for example files that load_files() loaded there.
struct WebgpuTexts {
  void* bytes = nullptr;  // WGPUBuffer; its size is a multiple of 16, and it has the usage COPY_SRC
  std::span<const std::uint64_t> offsets;  // on the host: from 0 to the end of the last text
};

class HEMSTITCH_API TextSearcher {
 public:
  explicit TextSearcher(const SearchOptions& options);
  // Uses this device, whatever backend and device the options name.
  TextSearcher(const SearchOptions& options, const WebgpuDevice& device);
  ~TextSearcher();
  TextSearcher(TextSearcher&&) noexcept;
  TextSearcher& operator=(TextSearcher&&) noexcept;

  // Searches one text, on the calling thread and the processor.
  SearchedText search(std::string_view text) const;

  // Searches texts that lie one after the other: text i is offsets[i] up to offsets[i + 1]. Offsets ascend
  // from 0 to the end. Returns one result per text.
  std::vector<SearchedText> search(std::span<const std::byte> texts,
                                   std::span<const std::uint64_t> offsets) const;

  // Searches files of any size, with `threads` threads of the processor. A file is read piece by piece until
  // its end is reached. Each thread needs 256 KB of memory, or twice the longest line. If a file cannot be
  // read or restored, its result has the error and what was found before it.
  std::vector<SearchedText> search_files(std::span<const std::string> paths) const;

  // Returns every position in the texts at which a pattern matches, ascending. Matches may overlap, but never
  // continue into the next text. Options that select words or lines have no effect here. An empty pattern
  // matches nowhere.
  std::vector<SearchMatch> find(std::span<const std::byte> texts,
                                std::span<const std::uint64_t> offsets) const;

  // The same for texts on the searcher's WebGPU device, after all work that is queued there; waits. Throws
  // kInvalidOption if the searcher has no such device, or if any pattern is empty.
  std::vector<SearchMatch> find(const WebgpuTexts& texts) const;

  // The same for texts on the device of the backend "cuda", without waiting: count first, then write.
  //
  //   searcher.count_async(texts, d_count, d_temp, temp_bytes, stream);
  //   ... read *d_count, or know that it is at most `room` ...
  //   searcher.write_async(texts, d_matches, room, d_temp, temp_bytes, stream);
  //
  // Both are steps of the stream, may be captured in a CUDA graph, and allocate nothing. They make the
  // searcher's device the calling thread's current one. A match is position << 16 | bytes. Matches 0 up to,
  // not including, min(*d_count, room) are written. Both throw kInvalidOption if the searcher has another
  // backend, if any pattern is empty, or if `temp_bytes` is less than what temp_bytes() returns.
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
