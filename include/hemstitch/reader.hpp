// Reads a compressed input as a file: read() gives the content that follows, seek() goes anywhere in it, as gzread()
// and gzseek() of zlib do. All formats, any number of frames, with checksums verified as long as it is read in order.
//
//   hemstitch::Reader reader = hemstitch::Reader::open("run.log.zst");
//   std::vector<std::byte> piece(65536);
//   while (const std::size_t bytes = reader.read(piece)) use(std::span(piece).first(bytes));
//
// Seeking. The first seek() to another place than the beginning or the next 4 MB reads where the blocks are and keeps that, as RangeReader
// does (ranges.hpp): in less than 1 % of the input's size. From there on a read restores the blocks that it touches, with
// some megabytes around them. Of one long gzip member or one Zstandard frame, which tell no places, that seek() restores all
// of the input once and makes an index (make_index()), unless the options have one. Where there is no index either (linked
// LZ4 blocks, zlib, raw DEFLATE, dictionaries, damage), and for inputs that only come in order, what lies before the place is
// restored and dropped; from such an input that cannot begin anew, seek() goes forward alone.
//
// Memory: what restoring a stream takes, pieces of the input of at most 4 MB, and content of a batch of blocks or 8 MB.
//
// Thread safety: one thread at a time may use a reader; RangeReader serves several. A child of fork() may use no reader that
// its parent has read from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// Gives an input in order: fills `into` with what comes next, a byte at least, and returns how much that was; 0 only at the
// end. If it throws, so does the reader's call.
using ReadNext = std::function<std::size_t(std::span<std::byte> into)>;

class HEMSTITCH_API Reader {
 public:
  // These read nothing yet, but check the options. The memory of the options' dictionary and index is copied; used_bytes must
  // not be set. Throw kInvalidOption, and kReadFailed for a file that cannot be opened.
  //
  // A file of any kind. The descriptor is duplicated. Of a regular file all is read, wherever its position is, which does not
  // change; others are read from where they are.
  static Reader open(const std::string& path, const RestoreOptions& options = {});
  static Reader open(int descriptor, const RestoreOptions& options = {});
  // An input in memory, which must stay as it is while the reader lives; it may be a mapped file.
  explicit Reader(std::span<const std::byte> input, const RestoreOptions& options = {});
  // An input that comes in order.
  explicit Reader(ReadNext read, const RestoreOptions& options = {});

  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  // Fills `into` with what follows and returns how many bytes that is: fewer only at the end of the content or before an
  // error, and 0 only at the end. An error in the middle of `into` is thrown by the next call, so that all content before
  // damage, or before bytes that begin no frame (kTrailingGarbage), is given first; it is thrown again until seek() or the
  // end of the reader. Throws what restore() throws, kTruncated if the input ends too early, kReadFailed.
  std::size_t read(std::span<std::byte> into);

  // The next read() begins at this byte of the content; behind the end of the content it gives nothing. Throws
  // kWrongState if the input only comes in order and the place lies before tell(), and the errors of read() for
  // what has to be restored before it.
  void seek(std::uint64_t at);
  // Where the next read() begins.
  std::uint64_t tell() const;

 private:
  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hemstitch
