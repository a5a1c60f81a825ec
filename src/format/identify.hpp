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

// Looks at no more than kIdentifyBytes.
DataIdentity identify_data(std::span<const std::byte> first_bytes);

// Throws the reason why a stream with these first bytes holds no frames: kTruncated, kForeignFormat or
// kUnknownFormat.
[[noreturn]] void refuse_data(std::span<const std::byte> first_bytes);

}  // namespace hemstitch
