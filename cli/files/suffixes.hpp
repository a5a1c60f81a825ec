// The suffixes of compressed files: which format a name tells, and what the content's name is. Upper and lower
// case are the same, as for gzip. All functions take names without folders, or paths, of which they look at
// the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "format/format.hpp"

namespace hemstitch::cli {

// The format that the name tells: for "a.lz4", not for ".lz4". Null if it tells none.
const FrameFormat* format_of_name(std::string_view name);
// The suffix that tells it, as it is written in the name; empty if there is none.
std::string_view suffix_of_name(std::string_view name);
// Whether the name tells this format, or one with the same suffix.
bool has_suffix(std::string_view name, Format format);

// "a" -> "a.lz4", in the format that is written.
std::string compressed_name(std::string_view name, Format format);
// "a.lz4" -> "a", "a.tgz" -> "a.tar"; nothing if the name tells no format.
std::optional<std::string> restored_name(std::string_view name);

}  // namespace hemstitch::cli
