#include "cli/compress/gzip_range.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/messages.hpp"
#include "format/deflate/frame/bgzf_places.hpp"
#include "format/deflate/frame/gzip_reader.hpp"
#include "format/formats.hpp"
#include "pipeline/gzip_points.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::string_view kMemberIndexSuffix = ".gzi";
constexpr unsigned kInMemberBits = 16;
constexpr std::uint64_t kMostIndexBytes = std::uint64_t{64} << 20;  // 4,194,303 members: some 270 GB

std::pair<time_t, long> changed_at(const FileSource& file) {
  return {file.status().st_mtim.tv_sec, file.status().st_mtim.tv_nsec};
}

// Opens the index with this suffix beside a gzip file, if it is not older than the file.
std::unique_ptr<FileSource> index_beside(FileSource& source, std::string_view suffix) {
  if (!source.is_regular() || source.is_standard_input() || !is_gzip(source.first_bytes())) return nullptr;
  const FileName name = source.file().beside(source.file().name + std::string(suffix));
  struct stat status {};
  if (!name.stat(status) || !S_ISREG(status.st_mode)) return nullptr;
  auto index = std::make_unique<FileSource>(name);
  return changed_at(*index) < changed_at(source) ? nullptr : std::move(index);
}

// The last member that begins at or before this byte of the content, according to FILE.gzi.
std::optional<BgzfPlace> nearest_member(FileSource& source, std::uint64_t content_at) {
  const std::unique_ptr<FileSource> index = index_beside(source, kMemberIndexSuffix);
  if (!index || index->total_bytes().value_or(0) > kMostIndexBytes) return std::nullopt;
  std::vector<std::byte> bytes(static_cast<std::size_t>(index->total_bytes().value_or(0)));
  bytes.resize(index->read(bytes));
  const auto places = read_gzi(bytes);
  if (!places) return std::nullopt;
  std::optional<BgzfPlace> nearest;
  for (const BgzfPlace& place : *places)
    if (place.content_at <= content_at && place.at < source.total_bytes().value_or(0)) nearest = place;
  return nearest;
}

// The same from FILE.gzidx.
std::optional<GzipPoint> nearest_block(FileSource& source, std::uint64_t content_at) {
  const std::unique_ptr<FileSource> index = index_beside(source, kGzipIndexSuffix);
  if (!index) return std::nullopt;
  auto reader = GzipIndexReader::of(*index, source.total_bytes().value_or(0));
  return reader ? reader->nearest(content_at) : std::nullopt;
}

// A virtual offset names the place where a member begins.
void go_to_member(FileSource& source, std::uint64_t at) {
  if (!source.seek(at)) throw ToolError("--virtual: the input cannot seek (name a file)");
}

}  // namespace

StreamReport restore_from_nearest(FileSource& source, Sink& sink, std::uint64_t begin, std::uint64_t end,
                                  const RestoreOptions& options, const StreamHooks& hooks) {
  if (const std::optional<BgzfPlace> place = nearest_member(source, begin); place && source.seek(place->at)) {
    const std::uint64_t before = place->content_at;
    return restore_range(source, sink, begin - before, end == UINT64_MAX ? end : end - before, options,
                         hooks);
  }
  if (const std::optional<GzipPoint> point = nearest_block(source, begin); point && point->content_at != 0)
    return restore_range_from(source, sink, *point, begin, end, options, hooks);
  source.seek(0);
  return restore_range(source, sink, begin, end, options, hooks);
}

std::uint64_t content_bytes_of(FileSource& source, std::optional<Format> format) {
  if (const std::unique_ptr<FileSource> index = index_beside(source, kGzipIndexSuffix))
    if (const auto reader = GzipIndexReader::of(*index, source.total_bytes().value_or(0)))
      return reader->content_bytes();
  return index_stream(source, format).content_bytes();
}

StreamReport restore_virtual(FileSource& source, Sink& sink, const VirtualRange& range,
                             const RestoreOptions& given, const StreamHooks& hooks) {
  RestoreOptions options = given;
  options.format = Format::kBgzf;
  constexpr std::uint64_t kInMember = (1 << kInMemberBits) - 1;
  const std::uint64_t member_at = range.begin >> kInMemberBits;
  std::uint64_t end = UINT64_MAX;
  if (range.end) {
    go_to_member(source, member_at);
    end = bgzf_content_bytes(source, (*range.end >> kInMemberBits) - member_at) + (*range.end & kInMember);
  }
  const std::uint64_t begin = range.begin & kInMember;
  if (end < begin) throw ToolError("--virtual: the end lies before the beginning");
  go_to_member(source, member_at);
  try {
    return restore_range(source, sink, begin, end, options, hooks);
  } catch (const Error& error) {
    if (error.status() != Status::kUnknownFormat) throw;
    throw ToolError(fmt::format("--virtual: no member begins at byte {}", member_at));
  }
}

}  // namespace hemstitch::cli
