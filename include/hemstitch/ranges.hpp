// Any part of a compressed input, as often as you like: a reader keeps where the blocks are, so a read
// restores the blocks that it touches and reads nothing else. It also keeps the block of the last read (at most
// 4 MB and its compressed bytes), so neighbours cost only a copy.
//
//   const hemstitch::RangeReader reader = hemstitch::RangeReader::open("log.lz4");
//   std::vector<std::byte> line(100);
//   line.resize(reader.read(123456789, line));
//
// Which inputs: LZ4 and BGZF (RFC 1952, SAM specification 4.1) with independent blocks, in any number of
// frames; Zstandard of several frames; and gzip, one member or many (RFC 1952), with options.index.
// restore_ranges() (hemstitch.hpp) says more, and does the same once, for an input in memory.
//
// Gzip: a read restores what lies between the last point of the index before it and its end. Points are about
// 4 MB of content apart (those of other programs 1 MB), so a read anywhere restores 2 MB on average, and a read
// that begins less than 4 MB after the one before only what lies between them: the decoder is kept, in about
// 300 KB.
//
// What is checked: every block that is restored, with its checksums and the size that it states. A size that is
// false is thus found in the block that states it, with its place; until then the places of what follows depend
// on it. With an index nothing is checked but that the data can be restored.
//
// Thread safety: several threads may call a reader at once, without locks. Making it reads all headers. What it
// keeps of the last read is shared where it can be; a call that finds it in use does without. A child of fork()
// may use the reader, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// Reads bytes of an input: fills `into` with those from `at` on and returns how many there were; fewer only
// at the end. Several threads may call it at once. If it throws, so does the reader's call.
using ReadAt = std::function<std::size_t(std::uint64_t at, std::span<std::byte> into)>;

class HEMSTITCH_API RangeReader {
 public:
  // All of these read the headers of all blocks, and keep a table that takes less than 1 % of the input's
  // size. They restore nothing. Block sizes that no header gives are found by walking the blocks' tokens,
  // once, on options.threads threads. With options.index they read only the index.
  //
  // The input must stay as it is while the reader lives, and so must the memory of options.index. Options
  // are checked first. Throws kUnsupportedFeature for other inputs and for frames that need a dictionary;
  // kTrailingGarbage, with the place, if other bytes follow the last frame, unless options.used_bytes is set;
  // kInvalidOption if the options have a dictionary, if the index is not one of such an input, or if there is
  // an index and used_bytes, which an index does not tell; and the errors of restore() for headers.
  //
  // An input in memory; it may be a mapped file.
  explicit RangeReader(std::span<const std::byte> input, const RestoreOptions& options = {});
  // An input of that size, which only this function reads.
  RangeReader(ReadAt read, std::uint64_t input_bytes, const RestoreOptions& options = {});
  // A regular file. Throws kReadFailed. The descriptor is duplicated; its position does not matter and does
  // not change.
  static RangeReader open(const std::string& path, const RestoreOptions& options = {});
  static RangeReader open(int descriptor, const RestoreOptions& options = {});

  ~RangeReader();
  RangeReader(RangeReader&&) noexcept;
  RangeReader& operator=(RangeReader&&) noexcept;

  // The size of the content of all frames together.
  std::uint64_t content_bytes() const;

  // Fills `into` with the content from `at` on. Returns how many bytes that is: fewer only at the end of the
  // content, and none behind it. Throws the Error of the first bad block, as restore() would; `into` is
  // unspecified then. Throws kInvalidOption if `into` overlaps the input.
  std::size_t read(std::uint64_t at, std::span<std::byte> into) const;

  // Restores many ranges, as restore_ranges() does: each block once, in batches, on the backend of the
  // options. Each range has its own status. Throws kInvalidOption if a range ends before it begins.
  std::vector<RestoredRange> restore(std::span<const ContentBytes> ranges) const;

 private:
  struct Impl;
  explicit RangeReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hemstitch
