// Reads frames without doing any input or output: it turns bytes into events. Files, pipes and pushed pieces
// share one reader:
//   for (;;) { gather exactly reader.wanted_bytes() bytes (fewer only at the end of the stream);
//              react to reader.step(those bytes); }
// A reader sees a block's content only as these bytes and keeps none of it. For a frame whose blocks cannot
// be told apart, it sees nothing between header and end: while in_stream(), whoever restores the stream calls
// stream_passed() instead of step().
//
// A format's reader derives from FrameReader, which reads skippable frames for all of them. FrameStream reads
// data of any format, by the first bytes of its first frame that is not skippable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.hpp"
#include "format/stream_decoder.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

class FrameFormat;
class Source;

// How many bytes identify a frame's format. The first step of each frame takes as many.
inline constexpr std::size_t kIdentifyBytes = 4;

enum class BlockKind {
  kIndependent,  // each is restored by itself, or with only the dictionary before it
  kLinked,       // each needs the blocks before it
  kStream,       // only restoring a block shows where it ends
};

// What a frame states before its first block.
struct FrameHeader {
  std::string_view kind;         // a name for programs: "lz4"
  std::string_view description;  // for people: "lz4, independent blocks"; without the block size
  bool legacy = false;           // an old variant of the format, which is only read, as a stream
  bool takes_dictionary = true;  // whether a dictionary is history of its blocks
  // Whether the blocks may be other than the frame says, since other writers use the same field for something
  // else: each may be the beginning of a stream that ends elsewhere (FrameReader::begin_stream_at()).
  bool may_be_streams = false;
  BlockKind block_kind = BlockKind::kIndependent;
  bool block_checksums = false;          // of blocks' data, as it is in the frame
  bool block_content_checksums = false;  // of blocks' content
  bool announces_sizes = false;          // of blocks' content: kBlockBegin tells them
  bool content_checksum = false;         // of the whole content
  std::size_t block_bytes =
      0;  // the most that a block restores to; for a stream: the size of a suitable piece
  std::size_t most_data_bytes = 0;  // the most data of a block; for a stream: of such a piece
  std::size_t history_bytes = 0;    // how far back linked blocks may refer
  std::optional<std::uint64_t> content_bytes;
  std::optional<std::uint32_t> dictionary_id;  // its checksum
  // The name of the file that the content comes from, and the time of its last change in seconds since
  // 1970, if the frame stores them.
  std::string file_name = {};
  std::uint32_t file_seconds = 0;
  // Set if the format is not the one that these first bytes stand for: BGZF, which any gzip reader reads.
  std::optional<Format> format = {};
};

class FrameReader {
 public:
  enum class Event {
    kMore,        // continue with wanted_bytes()
    kFrameBegin,  // header() is complete
    kBlockBegin,  // block() is set; its data (and checksum) are wanted next
    kBlockEnd,    // those bytes were taken; block()'s checksums are set if the frame has them
    kFrameEnd,    // content_checksum() and content_bytes_low() are set if the frame has them
    kSkip,        // skip skip_bytes() bytes, then call skipped()
    kGarbage,     // the bytes at garbage_at() begin no frame, after at least one complete frame
    kEnd,         // the stream ended between frames
  };

  struct Block {
    std::size_t data_bytes = 0;  // without the checksum
    bool stored = false;         // the data is the content
    std::optional<std::uint32_t> checksum;
    std::uint64_t number = 0;                            // in its frame, from 1
    std::uint64_t at = 0;                                // of its header, in the stream
    std::optional<std::uint32_t> content_checksum = {};  // these two are set if the frame has them
    std::optional<std::uint32_t> content_bytes = {};     // at most header().block_bytes
  };

  // A block of which a table says where it lies, before it is read.
  struct KnownBlock {
    std::uint64_t at = 0;     // of its header, in the stream
    std::uint32_t bytes = 0;  // up to its end, with all that belongs to it
    std::uint32_t content_bytes = 0;
    std::optional<std::uint32_t> checksum = {};  // of the content
  };

  virtual ~FrameReader() = default;

  std::size_t wanted_bytes() const { return wanted_bytes_; }
  // Throws Error of the format and corrupt families, with the place.
  Event step(std::span<const std::byte> bytes);
  // After kSkip: how many bytes there really were.
  void skipped(std::uint64_t count);
  // Instead of the step() after kBlockBegin: wanted_bytes() bytes were skipped, and `count` of them were
  // really there.
  void block_skipped(std::uint64_t count);
  // The same, if the last of these bytes are available: `behind` is everything after the data. Sets
  // block()'s checksums. Throws Error like step().
  void data_skipped(std::span<const std::byte> behind);
  // After kBlockBegin: the announced block and all behind it in its frame, if they are known before they are read.
  virtual std::span<const KnownBlock> known_blocks() const { return {}; }
  // Instead of the step() after kBlockBegin: all bytes from position() to the end of these first ones of the
  // known_blocks() were skipped, and `count` of them were really there.
  void blocks_skipped(std::size_t blocks, std::uint64_t count);
  // True from the kFrameBegin of a stream until its end.
  bool in_stream() const { return in_stream_; }
  // What restoring made of the next bytes. `passed_bytes` is how far the stream has come: all bytes that
  // were taken, except those that a decoder read ahead. `at_end`: there are no more bytes. Throws Error of
  // the corrupt family.
  void stream_passed(const StreamStep& step, std::uint64_t passed_bytes, bool at_end);
  // Whether what is being read, from position() on, is of a frame that may_be_streams, and may be a stream.
  virtual bool may_be_stream() const { return false; }
  // Continues, instead of with blocks, with the stream whose data begins at `data_at`, after a header at `at`.
  // What follows it are streams as well. Only for frames that may_be_streams.
  virtual void begin_stream_at(std::uint64_t frame_number, std::uint64_t at, std::uint64_t data_at);
  // From the first step on, frames that may_be_streams are streams.
  virtual void read_blocks_as_streams() {}
  // A copy that continues from here by itself.
  virtual std::unique_ptr<FrameReader> clone() const = 0;
  // Before the first step: continues behind what another reader has read.
  void continue_behind(const FrameReader& other);

  const FrameHeader& header() const { return header_; }
  const Block& block() const { return block_; }
  std::optional<std::uint32_t> content_checksum() const { return content_checksum_; }
  std::optional<std::uint32_t> content_bytes_low() const { return content_bytes_low_; }  // the lower 32 bits
  // Whether the last frame has no end mark, although its format requires one: the data may have been cut
  // there.
  bool end_missing() const { return end_missing_; }
  std::uint32_t skip_bytes() const { return skip_bytes_; }
  // After kGarbage. The held_bytes() from garbage_at() on were taken: zeros, and then garbage().
  std::uint64_t garbage_at() const { return position_; }
  std::span<const std::byte> garbage() const { return garbage_; }

  std::uint64_t position() const { return position_; }  // bytes taken so far, without held_bytes()
  // Bytes after position() that were already taken, for something that is not complete yet, or from the
  // next frame.
  std::uint64_t held_bytes() const { return held_bytes_; }
  // After a skippable frame's magic number: the next step takes its size.
  bool in_skippable_frame() const { return in_skippable_frame_; }
  std::uint64_t frame_number() const { return frame_number_; }  // from 1; skippable frames count
  std::uint64_t frame_at() const { return frame_at_; }          // where the frame begins
  Place place() const;                                          // the frame and, inside one, the block

 protected:
  FrameReader() = default;
  FrameReader(const FrameReader&) = default;

  // A step of the format's own frames, and of what follows them. It never gets the bytes of a skippable frame
  // that is before all of its frames.
  virtual Event read(std::span<const std::byte> bytes) = 0;
  // Begins the next frame at `at`: it is counted, and nothing is known of it yet.
  void enter_frame(std::uint64_t at);
  // Between frames, for formats that have skippable ones there: position_ is at the magic number, which was
  // read. The next bytes that read() gets are those behind the frame.
  Event begin_skippable_frame();
  // Reads what follows a block's data, in formats that have something there.
  virtual void take_behind_data(std::span<const std::byte> /*behind*/) {}
  // Only for formats with known_blocks(): these first ones, but for the last of them, count as left.
  virtual void leave_known_blocks(std::size_t /*blocks*/) {}
  // A block's bytes were taken or skipped: sets what is wanted next.
  virtual void leave_block() = 0;
  // A stream has ended: sets what is wanted next. Only for formats with such frames, which set in_stream_.
  virtual void leave_stream() {}
  [[noreturn]] void fail(Status status, const std::string& detail) const;
  void require_bytes(std::uint64_t count) const;  // fails with kTruncated if fewer than wanted_bytes() came
  // After a frame: these bytes begin no other one, nor are they, at the end of the data, the first bytes of
  // one that was cut off.
  Event report_garbage(std::span<const std::byte> bytes);

  std::size_t wanted_bytes_ = kIdentifyBytes;
  std::uint64_t position_ = 0;
  std::uint64_t held_bytes_ = 0;
  std::uint64_t frame_at_ = 0;
  std::uint64_t frame_number_ = 0;
  std::uint32_t skip_bytes_ = 0;
  bool in_block_ = false;  // its data is wanted
  bool in_stream_ = false;
  FrameHeader header_;
  Block block_;
  std::optional<std::uint32_t> content_checksum_;
  std::optional<std::uint32_t> content_bytes_low_;
  bool end_missing_ = false;
  std::vector<std::byte> garbage_;

 private:
  Event read_skippable_size(std::span<const std::byte> bytes);

  bool has_begun_ = false;  // with something else than skippable frames
  bool in_skippable_frame_ = false;
};

// How the frames of a file are found before it is read.
enum class FrameSearch {
  kTable,  // as a table at its end lists them
  kQuickly,  // otherwise by their headers, if there are several frames and the file is not so large that this takes long
  kParts  // by their headers in any file, since only parts of it are wanted
};

// Reads a stream whose format its first frame shows that is not skippable, or the caller knows.
class FrameStream {
 public:
  explicit FrameStream(bool verify_header_checksum);
  // With a known format.
  FrameStream(bool verify_header_checksum, const FrameFormat& format);
  FrameStream(const FrameStream& other);  // continues by itself
  FrameStream& operator=(const FrameStream&) = delete;

  // Before the first step, if all of a file that can seek will be read: has its frames read as blocks where that is
  // possible (FrameFormat::make_file_reader()). The file is at its beginning afterwards.
  void know_file(Source& file, FrameSearch search);

  std::size_t wanted_bytes() const { return reader_->wanted_bytes(); }
  bool in_stream() const { return reader_->in_stream(); }
  // The first call throws kTruncated, kForeignFormat or kUnknownFormat if the stream does not begin with a
  // frame.
  FrameReader::Event step(std::span<const std::byte> bytes);
  std::uint64_t position() const { return reader_->position(); }
  // The position of the source.
  std::uint64_t taken_bytes() const { return reader_->position() + reader_->held_bytes(); }

  // From the first frame on that is not skippable, unless the caller has given it.
  const FrameFormat& format() const { return *format_; }
  // Until the next step, which may replace it.
  FrameReader& reader() { return *reader_; }
  const FrameReader& reader() const { return *reader_; }

 private:
  void identify(std::span<const std::byte> bytes);

  bool verify_header_checksum_;
  const FrameFormat* format_ = nullptr;
  std::unique_ptr<FrameReader> reader_;
};

}  // namespace hemstitch
