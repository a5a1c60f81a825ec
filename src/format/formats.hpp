// The formats of this process. A row here, and pipeline, library and tool know a format: its name, its suffix, its first
// bytes, its frames.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.hpp"

namespace hemstitch {

class FormatTable {
 public:
  // Thread safety: lookups from any thread; add(), which tests call, only before other threads use the table.
  static FormatTable& instance();

  void add(std::unique_ptr<FrameFormat> format);

  std::span<const std::unique_ptr<FrameFormat>> all() const { return formats_; }
  // Throws kInvalidOption where there is none.
  const FrameFormat& of(Format id) const;
  // Null where there is none.
  const FrameFormat* of_name(std::string_view name) const;
  const FrameFormat* of_data(std::span<const std::byte> first_bytes) const;
  // Of "a.lz4", not of ".lz4"; of several with the suffix the first.
  const FrameFormat* of_suffix(std::string_view file_name) const;
  // All of them: "LZ4", or several with "or" before the last.
  std::string names() const;
  std::string titles_told_by_content() const;
  std::string suffixes() const;

 private:
  FormatTable();
  std::vector<std::unique_ptr<FrameFormat>> formats_;
};

// The options with the format's defaults in place of zeros. Throws kInvalidOption where there is no such format.
CompressOptions with_defaults(CompressOptions options);
// The same, checked. Throws kInvalidOption, which names the field.
CompressOptions checked_options(const CompressOptions& options);

}  // namespace hemstitch
