// The formats of this process. A row here makes a format known to pipeline, library and tool: its name, suffix,
// first bytes, frames, and the codecs of its blocks on the processor. known_formats.hpp has the library's rows.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/codec.hpp"
#include "format/format.hpp"
#include "format/known_formats.hpp"

namespace hemstitch {

// The format if nobody says which: that of default options, in which machines are calibrated.
inline constexpr Format kDefaultFormat = Format::kLz4;

// What a format brings: how it is framed, and how its blocks are made. A backend without a codec for the
// format does not support it.
struct FormatRow {
  std::unique_ptr<FrameFormat> format;
  std::unique_ptr<Codec> processor = {};  // for the backend `cpu`; may be null
  std::unique_ptr<Codec> reference = {};  // for the backend `reference`; may be null
};

// Those of the library.
#define HEMSTITCH_DECLARE(name, cuda, webgpu) std::vector<FormatRow> make_##name##_formats();
HEMSTITCH_KNOWN_FORMATS(HEMSTITCH_DECLARE)
#undef HEMSTITCH_DECLARE

class FormatTable {
 public:
  // Thread safety: any thread may look up; call add(), which tests use, only before other threads use the
  // table. It is never destroyed, since threads may work while the process ends.
  static FormatTable& instance();

  void add(FormatRow row);

  std::span<const FormatRow> all() const { return rows_; }
  // Throws kInvalidOption if there is none.
  const FrameFormat& of(Format id) const;
  // Null if there is none.
  const FormatRow* row(Format id) const;
  // Null if the format or its codec is missing. `codec` is one of a row's.
  using RowCodec = std::unique_ptr<Codec> FormatRow::*;
  const Codec* codec(Format id, RowCodec codec) const;
  // Null if there is none.
  const FrameFormat* of_name(std::string_view name) const;
  // By the first bytes of a frame; a skippable one is of no format.
  const FrameFormat* of_data(std::span<const std::byte> first_bytes) const;
  // Whether these bytes, after which the data ends, are fewer than a frame begins with, and would begin one.
  bool has_cut_begin(std::span<const std::byte> bytes) const;
  // From the least level of any format to the most of any.
  LevelRange levels() const;
  // As much of a dictionary as any format uses.
  std::size_t most_history_bytes() const;
  // Lists of all formats: "LZ4", or several with "or" before the last.
  std::string names() const;
  std::string titles_told_by_content() const;
  std::string suffixes() const;

 private:
  FormatTable();
  std::vector<FormatRow> rows_;
};

// Replaces zeros in the options by the format's defaults. Throws kInvalidOption if there is no such format.
CompressOptions with_defaults(CompressOptions options);
// Throws kInvalidOption if the format does not have the level.
void check_level(const CompressOptions& options);
// The same as with_defaults(), checked. Throws kInvalidOption, with the field's name.
CompressOptions checked_options(const CompressOptions& options);

// Where to work: as requested, or on the processor if the options are `stored`, `rsyncable` or `legacy`. Throws
// kInvalidOption if another backend is named then, or if the format has no such option.
std::string_view backend_for(const CompressOptions& options);

}  // namespace hemstitch
