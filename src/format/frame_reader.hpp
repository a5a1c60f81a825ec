// Reading frames without any input or output: bytes to events. Files, pipes and pushed pieces share one reader:
//   for (;;) { gather exactly reader.wanted_bytes() bytes (fewer only at the end of the stream);
//              react to reader.step(those bytes); }
// A reader never sees a block's content other than as those bytes and keeps none of it. Of a frame whose blocks cannot be told
// apart it sees nothing between header and end: while in_stream(), whoever restores it tells stream_passed() instead of step().
//
// A format's reader derives from FrameReader; FrameStream is the one for data of whatever format it begins with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/status.hpp"
#include "format/stream_decoder.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

class FrameFormat;

// As many bytes as tell a frame's format, and as many as the first step of each frame takes.
inline constexpr std::size_t kIdentifyBytes = 4;

enum class BlockKind {
  kIndependent,  // each is restored by itself, or behind the dictionary alone
  kLinked,       // each needs what stands before it
  kStream,       // where one ends is known only to whoever restores it
};

// What a frame says of itself before its first block.
struct FrameHeader {
  std::string_view kind;         // a name for programs: "lz4"
  std::string_view description;  // for people: "lz4, independent blocks"; the block size is no part of it
  bool legacy = false;           // an older way of the format, which is only read, as a stream
  BlockKind block_kind = BlockKind::kIndependent;
  bool block_checksums = false;          // of blocks' data, as they stand in the frame
  bool block_content_checksums = false;  // of blocks' content
  bool content_checksum = false;         // of the whole content
  std::size_t block_bytes = 0;           // the most that a block restores to; of a stream: a good piece of it
  std::size_t most_data_bytes = 0;  // the most data that a block has; of a stream: what such a piece may take
  std::optional<std::uint64_t> content_bytes;
  std::optional<std::uint32_t> dictionary_id;  // its checksum
  // Of the file whose content it is, where the frame keeps them: its name, and when it was last changed, in seconds since 1970.
  std::string file_name = {};
  std::uint32_t file_seconds = 0;
  // Where the format is another one than data is read as that begins so: BGZF, which is gzip to whoever reads it.
  std::optional<Format> format = {};
};

class FrameReader {
 public:
  enum class Event {
    kMore,        // go on with wanted_bytes()
    kFrameBegin,  // header() is complete
    kBlockBegin,  // block() is announced; its data (and checksum) are wanted next
    kBlockEnd,    // those bytes were taken; block()'s checksums are set where the frame has them
    kFrameEnd,    // content_checksum() and content_bytes_low() are set where the frame has them
    kSkip,        // pass over skip_bytes() bytes, then call skipped()
    kGarbage,     // at garbage_at() stands no frame, after at least one that was complete
    kEnd,         // the stream ended between frames
  };

  struct Block {
    std::size_t data_bytes = 0;  // without the checksum
    bool stored = false;         // the data is the content
    std::optional<std::uint32_t> checksum;
    std::uint64_t number = 0;                            // in its frame, from 1
    std::uint64_t at = 0;                                // where it is announced in the stream
    std::optional<std::uint32_t> content_checksum = {};  // these two where the frame has them
    std::optional<std::uint32_t> content_bytes = {};     // at most header().block_bytes
  };

  virtual ~FrameReader() = default;

  std::size_t wanted_bytes() const { return wanted_bytes_; }
  // Throws Error of the format and corrupt families, with the place.
  virtual Event step(std::span<const std::byte> bytes) = 0;
  // After kSkip: how many bytes were really there.
  void skipped(std::uint64_t count);
  // Instead of the step() after kBlockBegin: wanted_bytes() bytes were passed over, `count` of them were
  // really there.
  void block_skipped(std::uint64_t count);
  // The same where the last of them are at hand, `behind`: all that stands behind the data. Sets block()'s checksums. Throws Error as step().
  void data_skipped(std::span<const std::byte> behind);
  // From the kFrameBegin of a stream until its end.
  bool in_stream() const { return in_stream_; }
  // What became of the bytes that follow, of which the stream has come past `passed_bytes`: those that were taken, but of a decoder that reads
  // ahead. `at_end`: there are no more than were taken. Throws Error of the corrupt family.
  void stream_passed(const StreamStep& step, std::uint64_t passed_bytes, bool at_end);
  // Another one that goes on from here by itself.
  virtual std::unique_ptr<FrameReader> clone() const = 0;

  const FrameHeader& header() const { return header_; }
  const Block& block() const { return block_; }
  std::optional<std::uint32_t> content_checksum() const { return content_checksum_; }
  std::optional<std::uint32_t> content_bytes_low() const { return content_bytes_low_; }  // the lower 32 bits
  // Whether the frame that ended last lacks what its format puts behind the last one: more of it may have followed once.
  bool end_missing() const { return end_missing_; }
  std::uint32_t skip_bytes() const { return skip_bytes_; }
  std::uint64_t garbage_at() const { return position_; }

  std::uint64_t position() const { return position_; }  // bytes taken so far, but for:
  // Those behind position() that were taken of what is not complete yet, or belongs to the next frame.
  std::uint64_t held_bytes() const { return held_bytes_; }
  std::uint64_t frame_number() const { return frame_number_; }  // from 1; skippable frames count
  std::uint64_t frame_at() const { return frame_at_; }          // where the frame begins
  Place place() const;                                          // the frame and, inside one, the block

 protected:
  FrameReader() = default;
  FrameReader(const FrameReader&) = default;

  // What stands behind a block's data, of formats that have such.
  virtual void take_behind_data(std::span<const std::byte> /*behind*/) {}
  // A block's bytes were taken or passed over: sets what is wanted behind it.
  virtual void leave_block() = 0;
  // The stream has ended: sets what is wanted behind it. Only of formats that have such frames, which set in_stream_.
  virtual void leave_stream() {}
  [[noreturn]] void fail(Status status, const std::string& detail) const;
  void require_bytes(
      std::uint64_t count) const;  // fails with kTruncated where fewer than wanted_bytes() came

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
};

// The reader of a stream whose format its first bytes tell, or somebody who knows.
class FrameStream {
 public:
  explicit FrameStream(bool verify_header_checksum) : verify_header_checksum_(verify_header_checksum) {}
  // Whose format is known before.
  FrameStream(bool verify_header_checksum, const FrameFormat& format);
  FrameStream(const FrameStream& other);  // goes on by itself
  FrameStream& operator=(const FrameStream&) = delete;

  std::size_t wanted_bytes() const { return reader_ ? reader_->wanted_bytes() : kIdentifyBytes; }
  bool in_stream() const { return reader_ && reader_->in_stream(); }
  // The first one throws kTruncated, kForeignFormat or kUnknownFormat where the stream begins with no frame.
  FrameReader::Event step(std::span<const std::byte> bytes);
  std::uint64_t position() const { return reader_ ? reader_->position() : 0; }
  // Where the source stands.
  std::uint64_t taken_bytes() const { return reader_ ? reader_->position() + reader_->held_bytes() : 0; }

  // After the first step.
  const FrameFormat& format() const { return *format_; }
  FrameReader& reader() { return *reader_; }
  const FrameReader& reader() const { return *reader_; }

 private:
  bool verify_header_checksum_;
  const FrameFormat* format_ = nullptr;
  std::unique_ptr<FrameReader> reader_;
};

}  // namespace hemstitch
