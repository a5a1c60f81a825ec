// A format: how compressed blocks are framed, what a block may hold, and who reads and writes the frames. What stands
// in a block is the engines' to write and to restore (engine/backend.hpp).
//
// The formats of the process stand in a table (formats.hpp). docs/how-to-add-a-format.md adds one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/block_plan.hpp"
#include "format/checksum.hpp"
#include "format/frame_index.hpp"
#include "format/frame_reader.hpp"
#include "format/frame_writer.hpp"
#include "format/judged_matches.hpp"
#include "format/side_index.hpp"
#include "format/stream_decoder.hpp"
#include "match/finder_rows.hpp"

namespace hemstitch {

// What a format leaves to options, besides level and block size.
struct FormatChoices {
  bool acceleration = false;
  bool linked_blocks = false;
  bool checksums = false;
  bool dictionary = false;
  bool stored_name = false;
};

class FrameFormat {
 public:
  virtual ~FrameFormat() = default;

  virtual Format id() const = 0;
  virtual std::string_view name() const = 0;    // as options and listings have it: "lz4"
  virtual std::string_view title() const = 0;   // as sentences have it: "LZ4"
  virtual std::string_view suffix() const = 0;  // of files: ".lz4"; empty where they have none
  // Whether a stream that begins with these bytes is one of frames of this format; at most kIdentifyBytes are looked at.
  virtual bool begins(std::span<const std::byte> first_bytes) const = 0;
  // Whether that tells it. Data of other formats is restored only where options or a file's name say the format.
  virtual bool is_told_by_content() const { return true; }

  // What options may ask for, and what they mean where they ask for nothing.
  virtual std::span<const std::size_t> block_sizes() const = 0;
  virtual std::size_t default_block_bytes() const { return block_sizes().front(); }
  virtual int default_level() const { return kMinLevel; }
  virtual FormatChoices choices() const { return {}; }
  // Throws kInvalidOption, with the field's name, where they ask for what the format does not have.
  virtual void check(const CompressOptions& /*options*/) const {}
  // Of blocks, of the content, and the one that names a dictionary.
  virtual Checksum checksum() const = 0;

  // Whether a frame is written as one stream, of which the blocks are parts: nobody restores one of them by itself as it stands.
  virtual bool writes_streams() const { return false; }

  // What the matches in its blocks keep to, and what finds those of a level where the project writes its own bytes; nothing for
  // formats without matches. `history_bytes` is the most that any block has before it.
  virtual std::optional<BlockPlan> match_limits() const { return std::nullopt; }
  virtual std::optional<AnyFinder> finder(int /*level*/, std::size_t /*block_bytes*/,
                                          std::size_t /*history_bytes*/) const {
    return std::nullopt;
  }
  // What becomes of these matches of `content`, one record a byte, by the costs of the format; nothing for formats without matches.
  virtual std::optional<JudgedMatches> judge(std::span<const std::byte> /*content*/,
                                             std::span<const MatchRecord> /*records*/) const {
    return std::nullopt;
  }

  virtual std::unique_ptr<FrameReader> make_reader(bool verify_header_checksum) const = 0;
  // `options.dictionary` is the part that serves as history.
  virtual std::unique_ptr<FrameWriter> make_writer(const CompressOptions& options) const = 0;

  // Restores a stream from the middle on, where a block begins: behind the first `taken_bits` bits, 7 at most, of `first_byte`, which is no part of the
  // input to come where there are such. `window` is the content before. Null where the format has no such streams.
  virtual std::unique_ptr<StreamDecoder> make_decoder_at(std::span<const std::byte> /*window*/,
                                                         std::byte /*first_byte*/,
                                                         unsigned /*taken_bits*/) const {
    return nullptr;
  }

  // The index that may stand beside files of the format; null where there is none.
  virtual std::unique_ptr<SideIndex> make_side_index() const { return nullptr; }

  // A file that is one frame, which is a stream, and short enough to be one block of a batch on a device: its data, as a block with checksum and
  // size of the content; nothing for others. Only what is restored tells whether it was one: then it fills that size, and nothing of the data is left.
  virtual std::optional<IndexedBlock> whole_stream(std::span<const std::byte> /*file*/,
                                                   bool /*verify_header_checksum*/) const {
    return std::nullopt;
  }
  // The same in two steps, for those who have a file in pieces. Where the data of such a stream stands in a file of `file_bytes`, behind a sound
  // header of `head_bytes`; nothing where it is too long. And then what the bytes from its end to the file's say: false where it is none.
  virtual std::optional<IndexedBlock> short_stream(std::uint64_t /*head_bytes*/,
                                                   std::uint64_t /*file_bytes*/) const {
    return std::nullopt;
  }
  virtual bool end_short_stream(std::span<const std::byte> /*trailer*/, IndexedBlock& /*stream*/) const {
    return false;
  }

  // How many bytes a block that is not stored restores to, found without restoring it; nothing where it cannot restore.
  virtual std::optional<std::uint64_t> restored_bytes(std::span<const std::byte> data) const = 0;
};

}  // namespace hemstitch
