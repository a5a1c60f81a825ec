// A format: how compressed blocks are framed, what a block may hold, and the objects that read and write
// frames. Engines write and restore the data in a block (engine/backend.hpp).
//
// The process's formats are in a table (formats.hpp). docs/how-to-add-a-format.md adds one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/block_plan.hpp"
#include "core/source.hpp"
#include "format/block_task.hpp"
#include "format/checksum.hpp"
#include "format/format_figures.hpp"
#include "format/frame_index.hpp"
#include "format/frame_reader.hpp"
#include "format/frame_writer.hpp"
#include "format/judged_matches.hpp"
#include "format/side_index.hpp"
#include "format/stream_decoder.hpp"
#include "match/finder_rows.hpp"

namespace hemstitch {

// Which options a format has, besides level and block size.
struct FormatChoices {
  bool acceleration = false;
  bool linked_blocks = false;
  bool checksums = false;
  bool dictionary = false;
  bool stored_name = false;
  bool seekable = false;  // also a window of any size, CompressOptions::window_log
  bool rsyncable = false;
  bool legacy_frames = false;
};

// A suffix of files beside the format's usual one: of "a.tgz" the content is "a.tar".
struct OtherSuffix {
  std::string_view suffix;
  std::string_view replacement;  // in the name of the content
};

struct LevelRange {
  int least = kMinLevel, most = kMaxLevel;
};

// What restoring a stream gave, for data of which it is not known whether it is one.
struct StreamTrial {
  enum class End {
    kSound,    // a stream, and what must follow it
    kUnsound,  // damage, or something else; the source may have ended too early
    kUnknown,  // so far, it may be one
  };
  End end = End::kUnsound;
  std::uint64_t data_bytes = 0;  // of a sound stream, without what follows it
};

class FrameFormat {
 public:
  virtual ~FrameFormat() = default;

  virtual Format id() const = 0;
  virtual std::string_view name() const = 0;    // in options and listings: "lz4"
  virtual std::string_view title() const = 0;   // in sentences: "LZ4"
  virtual std::string_view suffix() const = 0;  // of files: ".lz4"; empty if they have none
  virtual std::span<const OtherSuffix> other_suffixes() const { return {}; }
  // What its frames begin with: one of these, each of kIdentifyBytes at most. Data of a format without any is
  // restored only if the options or a file's name give the format.
  virtual std::span<const std::string_view> first_bytes() const { return {}; }
  bool is_told_by_content() const { return !first_bytes().empty(); }
  // Whether data that begins with these bytes is of this format.
  bool begins(std::span<const std::byte> data) const;
  // Whether a stream with these first bytes may be in this format, although they do not identify it.
  virtual bool may_begin(std::span<const std::byte> /*first_bytes*/) const { return false; }

  // The values that options may have, and the defaults.
  virtual std::span<const std::size_t> block_sizes() const = 0;
  virtual std::size_t default_block_bytes() const { return block_sizes().front(); }
  // Of frames for CompressOptions::legacy, where there are such.
  virtual std::size_t legacy_block_bytes() const { return default_block_bytes(); }
  // 0, which means the default in options, is no level of its own.
  virtual LevelRange levels() const { return {}; }
  virtual int default_level() const { return kMinLevel; }
  virtual FormatChoices choices() const { return {}; }
  // Throws kInvalidOption, with the field's name, if the format does not have a requested option.
  virtual void check(const CompressOptions& /*options*/) const {}
  // For blocks, for the content, and for naming a dictionary.
  virtual Checksum checksum() const = 0;

  // How far back the data of a block may refer, at most. It bounds the history that engines get.
  virtual std::size_t history_bytes() const { return 0; }
  // The part of a dictionary that is the history of blocks.
  virtual std::span<const std::byte> dictionary_content(std::span<const std::byte> dictionary) const {
    return dictionary.last(std::min(dictionary.size(), history_bytes()));
  }
  // Whether that is all that a dictionary is. Otherwise the first block of a frame gets it beside the history.
  virtual bool dictionary_is_history() const { return true; }
  // What names a dictionary in a frame's header.
  virtual std::uint32_t dictionary_id(std::span<const std::byte> dictionary) const {
    return checksum_of(checksum(), dictionary_content(dictionary));
  }
  // The largest dictionary that is not refused; nothing if the end of a larger one serves as well.
  virtual std::optional<std::size_t> most_dictionary_bytes() const { return std::nullopt; }

  // The most content that a byte of a block's data can stand for. A header that claims more is wrong.
  virtual std::uint64_t most_content_of_byte() const = 0;
  // Nothing if the format was not measured; then `auto` chooses the processor.
  virtual std::optional<FormatFigures> figures() const { return std::nullopt; }

  // Whether a frame is written as one stream, of which blocks are parts, so that no block can be restored
  // by itself.
  virtual bool writes_streams() const { return false; }
  // What makes a whole stream of such a part, so that it can be restored.
  virtual std::span<const std::byte> end_of_stream() const { return {}; }

  // The limits of matches in its blocks, and the finder of a level for the project's own bytes; nothing for
  // formats without matches. `history_bytes` is the most that any block has before it.
  virtual std::optional<BlockPlan> match_limits() const { return std::nullopt; }
  virtual std::optional<AnyFinder> finder(int /*level*/, std::size_t /*block_bytes*/,
                                          std::size_t /*history_bytes*/) const {
    return std::nullopt;
  }
  // The result of these matches of `content` (one record for each byte) at the format's costs; nothing for
  // formats without matches.
  virtual std::optional<JudgedMatches> judge(std::span<const std::byte> /*content*/,
                                             std::span<const MatchRecord> /*records*/) const {
    return std::nullopt;
  }

  virtual std::unique_ptr<FrameReader> make_reader(bool verify_header_checksum) const = 0;
  // A reader for all of a file that can seek, where the places of its frames can be known before they are read: each is
  // then a block, which is restored by itself. Null if make_reader() must read the file. The file's position changes.
  virtual std::unique_ptr<FrameReader> make_file_reader(Source& /*file*/, FrameSearch /*search*/) const {
    return nullptr;
  }
  virtual std::unique_ptr<FrameWriter> make_writer(const CompressOptions& options) const = 0;
  // The same for frames whose blocks have the project's own bytes, where these may refer farther back. The bytes of the processor's
  // library must fit into such a frame, too.
  virtual std::unique_ptr<FrameWriter> make_own_writer(const CompressOptions& options) const {
    return make_writer(options);
  }

  // Restores a stream from the middle, where a block begins: after the first `taken_bits` (at most 7) bits
  // of `first_byte`. If `taken_bits` is not 0, `first_byte` is not part of the input that follows. `window`
  // is the content before. Null if the format has no such streams.
  virtual std::unique_ptr<StreamDecoder> make_decoder_at(std::span<const std::byte> /*window*/,
                                                         std::byte /*first_byte*/,
                                                         unsigned /*taken_bits*/) const {
    return nullptr;
  }

  // Restores, to nowhere, what may be a stream from its data on: from where `source` is up to the end of the
  // stream and what follows it. What did not end after `most_bytes` is kUnknown. For formats with frames that may_be_streams.
  virtual StreamTrial try_stream(Source& /*source*/, std::uint64_t /*most_bytes*/,
                                 bool /*verify_checksum*/) const {
    return {};
  }

  // The index that may lie beside files of the format; null if there is none.
  virtual std::unique_ptr<SideIndex> make_side_index() const { return nullptr; }

  // If the file is one frame that is a stream, and short enough for a block of a batch on a device: its
  // data as a block, with the content's checksum and size. Nothing for other files. Only restoring it shows
  // whether it was such a file: then the content has this size and uses up all of the data.
  virtual std::optional<IndexedBlock> whole_stream(std::span<const std::byte> /*file*/,
                                                   bool /*verify_header_checksum*/) const {
    return std::nullopt;
  }
  // The same in two steps, for callers that have a file in pieces. short_stream() returns where the data of
  // such a stream lies in a file of `file_bytes`, after a valid header of `head_bytes`; nothing if it is
  // too long. end_short_stream() reads the bytes from the end of the data to the end of the file; it
  // returns false if this is not such a stream.
  virtual std::optional<IndexedBlock> short_stream(std::uint64_t /*head_bytes*/,
                                                   std::uint64_t /*file_bytes*/) const {
    return std::nullopt;
  }
  virtual bool end_short_stream(std::span<const std::byte> /*trailer*/, IndexedBlock& /*stream*/) const {
    return false;
  }

  // Gives the task the data of a block that stores its content, or kOutputTooSmall, for which the frame stores it.
  virtual void store(BlockTask& task) const { task.status = Status::kOutputTooSmall; }

  // How many bytes a block that is not stored restores to, found without restoring it; nothing if it is
  // invalid.
  virtual std::optional<std::uint64_t> restored_bytes(std::span<const std::byte> data) const = 0;
};

}  // namespace hemstitch
