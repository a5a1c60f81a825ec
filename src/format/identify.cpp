#include "format/identify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/status.hpp"
#include "format/formats.hpp"
#include "format/skippable_frame.hpp"

namespace hemstitch {
namespace {

struct ForeignMagic {
  std::string_view bytes;
  std::string_view name;
  std::string_view tool;
};

using namespace std::string_view_literals;

constexpr std::string_view kLegacyZstd = "zstd -d, built with its legacy formats";

// The first bytes, four at most, of other formats that people are likely to pass to us, and the program for
// each.
constexpr std::array kForeignMagics{
    // Zstandard before RFC 8878
    ForeignMagic{"\x1E\xB5\x2F\xFD"sv, "zstd 0.1", kLegacyZstd},
    ForeignMagic{"\x22\xB5\x2F\xFD"sv, "zstd 0.2", kLegacyZstd},
    ForeignMagic{"\x23\xB5\x2F\xFD"sv, "zstd 0.3", kLegacyZstd},
    ForeignMagic{"\x24\xB5\x2F\xFD"sv, "zstd 0.4", kLegacyZstd},
    ForeignMagic{"\x25\xB5\x2F\xFD"sv, "zstd 0.5", kLegacyZstd},
    ForeignMagic{"\x26\xB5\x2F\xFD"sv, "zstd 0.6", kLegacyZstd},
    ForeignMagic{"\x27\xB5\x2F\xFD"sv, "zstd 0.7", kLegacyZstd},
    ForeignMagic{"\xFD"
                 "7zX"sv,
                 "xz", "xz -d"},
    ForeignMagic{"BZh"sv, "bzip2", "bzip2 -d"},
    ForeignMagic{"PK\x03\x04"sv, "zip", "unzip"},
    ForeignMagic{"7z\xBC\xAF"sv, "7z", "7z x"},
    ForeignMagic{"LZIP"sv, "lzip", "lzip -d"},
    ForeignMagic{"\xFF\x06\0\0"sv, "snappy", "snzip -d"},
    ForeignMagic{"\x1F\x9D"sv, "compress", "gzip -d"},
    ForeignMagic{"\x89LZO"sv, "lzop", "lzop -d"},
    ForeignMagic{"LZ4B"sv, "LZ4Block", "LZ4BlockInputStream of lz4-java"},
    ForeignMagic{"mozL"sv, "mozLz4", "dejsonlz4"},
};

static_assert(std::all_of(kForeignMagics.begin(), kForeignMagics.end(),
                          [](const ForeignMagic& magic) { return magic.bytes.size() <= kIdentifyBytes; }));

}  // namespace

bool starts_with(std::span<const std::byte> data, std::string_view bytes) {
  if (data.size() < bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); i++)
    if (static_cast<char>(data[i]) != bytes[i]) return false;
  return true;
}

bool is_cut_begin(std::span<const std::byte> data, std::string_view bytes) {
  return data.size() < bytes.size() && starts_with(data, bytes.substr(0, data.size()));
}

DataIdentity identify_data(std::span<const std::byte> first_bytes) {
  if (first_bytes.empty()) return {DataKind::kEmpty, {}, {}};
  if (begins_skippable_frame(first_bytes) || FormatTable::instance().of_data(first_bytes) != nullptr)
    return {DataKind::kFrame, {}, {}};
  for (const ForeignMagic& magic : kForeignMagics)
    if (starts_with(first_bytes, magic.bytes)) return {DataKind::kForeign, magic.name, magic.tool};
  for (const FormatRow& row : FormatTable::instance().all())
    if (row.format->may_begin(first_bytes)) return {DataKind::kUnknown, {}, {}, row.format->name()};
  return {DataKind::kUnknown, {}, {}};
}

void refuse_data(std::span<const std::byte> first_bytes) {
  const Place begin{std::nullopt, std::nullopt, 0};
  const DataIdentity identity = identify_data(first_bytes);
  if (identity.kind == DataKind::kEmpty) throw Error(Status::kTruncated, "the input is empty", begin);
  if (identity.kind == DataKind::kForeign)
    throw Error(Status::kForeignFormat,
                fmt::format("this is {} data, for {}", identity.foreign_name, identity.foreign_tool), begin);
  if (const FrameFormat* const other = FormatTable::instance().of_data(first_bytes))
    throw Error(
        Status::kUnknownFormat,
        fmt::format("the data begins with a frame of {}, and another format was named", other->title()),
        begin);
  throw Error(Status::kUnknownFormat,
              fmt::format("the data does not begin with a frame of {}",
                          FormatTable::instance().titles_told_by_content()),
              begin);
}

}  // namespace hemstitch
