// Identifies data by its first bytes, never by its name.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "format/frame_reader.hpp"

namespace hemstitch {

enum class DataKind {
  kEmpty,
  kFrame,    // of one of our formats, so it can be restored
  kForeign,  // a format of another tool, named by foreign_tool
  kUnknown,
};

struct DataIdentity {
  DataKind kind = DataKind::kUnknown;
  std::string_view foreign_name;  // e.g. "zstd"; empty unless kForeign
  std::string_view foreign_tool;  // the command that restores it, e.g. "zstd -d"; empty unless kForeign
  std::string_view possible_format = {};  // name of one of our formats that kUnknown data may be in: "zlib"
};

bool starts_with(std::span<const std::byte> data, std::string_view bytes);
// Whether the data is less than these bytes, but not other than they are.
bool is_cut_begin(std::span<const std::byte> data, std::string_view bytes);

// Looks at no more than kIdentifyBytes. A skippable frame is one of ours.
DataIdentity identify_data(std::span<const std::byte> first_bytes);

// Throws the reason why a stream with these first bytes holds no frames: kTruncated, kForeignFormat or
// kUnknownFormat.
[[noreturn]] void refuse_data(std::span<const std::byte> first_bytes);

}  // namespace hemstitch
