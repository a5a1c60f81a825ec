// Knowing data by its first bytes, never by its name.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "format/frame_reader.hpp"

namespace hemstitch {

enum class DataKind {
  kEmpty,
  kFrame,    // of one of our formats: what restoring takes
  kForeign,  // a format of another tool, named by foreign_tool
  kUnknown,
};

struct DataIdentity {
  DataKind kind = DataKind::kUnknown;
  std::string_view foreign_name;  // e.g. "zstd"; empty unless kForeign
  std::string_view foreign_tool;  // the command that restores it, e.g. "zstd -d"; empty unless kForeign
};

// Looks at kIdentifyBytes at most.
DataIdentity identify_data(std::span<const std::byte> first_bytes);

// Says why a stream that begins so is none of frames: throws kTruncated, kForeignFormat or kUnknownFormat.
[[noreturn]] void refuse_data(std::span<const std::byte> first_bytes);

}  // namespace hemstitch
