// The formats of this process. A row here makes a format known to pipeline, library and tool: its name,
// suffix, first bytes and frames.
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
  // Thread safety: any thread may look up; call add(), which tests use, only before other threads use the
  // table.
  static FormatTable& instance();

  void add(std::unique_ptr<FrameFormat> format);

  std::span<const std::unique_ptr<FrameFormat>> all() const { return formats_; }
  // Throws kInvalidOption if there is none.
  const FrameFormat& of(Format id) const;
  // Null if there is none.
  const FrameFormat* of_name(std::string_view name) const;
  const FrameFormat* of_data(std::span<const std::byte> first_bytes) const;
  // Lists of all formats: "LZ4", or several with "or" before the last.
  std::string names() const;
  std::string titles_told_by_content() const;
  std::string suffixes() const;

 private:
  FormatTable();
  std::vector<std::unique_ptr<FrameFormat>> formats_;
};

// Replaces zeros in the options by the format's defaults. Throws kInvalidOption if there is no such format.
CompressOptions with_defaults(CompressOptions options);
// The same, checked. Throws kInvalidOption, with the field's name.
CompressOptions checked_options(const CompressOptions& options);

}  // namespace hemstitch
