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

  // Throws kInvalidOption where there is none.
  const FrameFormat& of(Format id) const;
  // Null where there is none.
  const FrameFormat* of_name(std::string_view name) const;
  const FrameFormat* of_data(std::span<const std::byte> first_bytes) const;
  const FrameFormat* of_suffix(std::string_view file_name) const;  // of "a.lz4", not of ".lz4"
  // All of them: "LZ4", or several with "or" before the last.
  std::string names() const;
  std::string titles() const;
  std::string suffixes() const;

 private:
  FormatTable();
  std::vector<std::unique_ptr<FrameFormat>> formats_;
};

// The format that the options ask for, which are checked. Throws kInvalidOption.
const FrameFormat& checked_format(const CompressOptions& options);

}  // namespace hemstitch
