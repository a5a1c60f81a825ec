// Knowing data by its first bytes, never by its name.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hemstitch {

// As many bytes as identify_data() ever looks at: a frame's magic number has so many.
inline constexpr std::size_t kIdentifyBytes = 4;

enum class DataKind {
  kEmpty,
  kLz4Frame,  // an LZ4, legacy LZ4 or skippable frame: what restoring takes
  kForeign,   // a format of another tool, named by foreign_tool
  kUnknown,
};

struct DataIdentity {
  DataKind kind = DataKind::kUnknown;
  std::string_view foreign_name;  // e.g. "zstd"; empty unless kForeign
  std::string_view foreign_tool;  // the command that restores it, e.g. "zstd -d"; empty unless kForeign
};

DataIdentity identify_data(std::span<const std::byte> first_bytes);

}  // namespace hemstitch
