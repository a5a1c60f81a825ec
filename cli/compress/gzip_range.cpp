#include "cli/compress/gzip_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/messages.hpp"
#include "format/bgzf_places.hpp"
#include "format/formats.hpp"
#include "format/zstd_index.hpp"
#include "pipeline/index_points.hpp"

namespace hemstitch::cli {
namespace {

constexpr unsigned kInMemberBits = 16;
constexpr std::uint64_t kMostIndexBytes = std::uint64_t{64} << 20;  // 4,194,303 members: some 270 GB

std::pair<time_t, long> changed_at(const struct stat& status) {
  return {status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

// What an index beside a file says of a place in its content. Nothing if there is no index, or if it cannot
// be used, which `warning` then tells.
template <class Answer>
class AskedIndex {
 public:
  // `ask` is called with the index; it returns nothing if the index is damaged or of another file.
  template <class Ask>
  AskedIndex(FileSource& source, std::string_view suffix, Format format, const Ask& ask) {
    if (!source.is_regular() || source.is_standard_input()) return;
    const FileName name = source.file().beside(source.file().name + std::string(suffix));
    struct stat status {};
    if (!name.stat(status) || !S_ISREG(status.st_mode)) return;
    std::array<std::byte, kIdentifyBytes> first_bytes{};
    if (!source.seek(0) ||
        !FormatTable::instance().of(format).begins(std::span(first_bytes).first(source.read(first_bytes))))
      return;
    std::string why = "it is older than the file";
    if (changed_at(status) >= changed_at(source.status())) {
      try {
        index = std::make_unique<FileSource>(name);
        answer = ask(*index);
        why = "it is damaged, or of another file";
      } catch (const ToolError& error) {
        why = error.what();
      }
    }
    if (!answer)
      warning = fmt::format("'{}' is not used: {} ('hemstitch index -f' writes a new one)",
                            shown_name(name.path()), why);
  }

  std::optional<Answer> answer;
  std::unique_ptr<FileSource> index;  // which was asked
  std::optional<std::string> warning;
};

// The last member that begins at or before this byte of the content.
std::optional<BgzfPlace> nearest_member(FileSource& index, FileSource& source, std::uint64_t content_at) {
  if (index.total_bytes().value_or(0) > kMostIndexBytes)
    throw ToolError(fmt::format("it has more than {}M", kMostIndexBytes >> 20));
  std::vector<std::byte> bytes(static_cast<std::size_t>(index.total_bytes().value_or(0)));
  bytes.resize(index.read(bytes));
  const auto places = read_gzi(bytes);
  return places ? nearest_bgzf_place(*places, source, content_at) : std::nullopt;
}

// The member of BGZF in which a virtual offset lies; its offset there must be one of its content.
BgzfMember member_of(FileSource& source, std::uint64_t virtual_offset) {
  const std::uint64_t at = virtual_offset >> kInMemberBits,
                      inside = virtual_offset & ((1 << kInMemberBits) - 1);
  if (!source.seek(0)) throw ToolError("--virtual: the input cannot seek (name a file)");
  // After the last member, where nothing is left, is a place, too.
  if (inside == 0 && at == source.total_bytes()) return {};
  const std::optional<BgzfMember> member = bgzf_member_at(source, at);
  if (!member && !bgzf_member_at(source, 0))
    throw ToolError("--virtual: this is not BGZF (--range takes places in the content of any file)");
  if (!member)
    throw ToolError(fmt::format("--virtual {}: no member begins at byte {}, to which this offset points",
                                virtual_offset, at));
  if (inside > member->content_bytes)
    throw ToolError(
        fmt::format("--virtual {}: the member at byte {} holds {} bytes, and the offset in it is {}",
                    virtual_offset, at, member->content_bytes, inside));
  return *member;
}

StreamHooks begun_inside(StreamHooks hooks) {
  hooks.begins_inside = true;
  return hooks;
}

}  // namespace

PartReport restore_from_nearest(FileSource& source, Sink& sink, std::uint64_t begin, std::uint64_t end,
                                const RestoreOptions& options, const StreamHooks& hooks) {
  const AskedIndex<BgzfPlace> members(source, kBgzfIndexSuffix, Format::kGzip, [&](FileSource& index) {
    return nearest_member(index, source, begin);
  });
  if (members.answer && source.seek(members.answer->at)) {
    const std::uint64_t before = members.answer->content_at;
    return {restore_range(source, sink, begin - before, end == UINT64_MAX ? end : end - before, options,
                          begun_inside(hooks))};
  }
  AskedIndex<ZstdIndexReader> points(
      source, kZstdIndexSuffix, Format::kZstd, [&](FileSource& index) -> std::optional<ZstdIndexReader> {
        auto reader = ZstdIndexReader::of(index, source.total_bytes().value_or(0));
        const ZstdIndexedPoint* const nearest = reader ? reader->nearest(begin) : nullptr;
        const bool fits =
            nearest != nullptr && ZstdIndexReader::decoder_at(index, *nearest, source) != nullptr;
        return fits ? std::move(reader) : std::nullopt;
      });
  if (points.answer)
    return {restore_range_from(source, sink, *points.answer, *points.index, begin, end, options,
                               begun_inside(hooks))};
  const AskedIndex<GzipPoint> blocks(source, kGzipIndexSuffix, Format::kGzip, [&](FileSource& index) {
    auto reader = GzipIndexReader::of(index, source.total_bytes().value_or(0));
    return reader ? reader->nearest(begin) : std::nullopt;
  });
  const auto& warning = blocks.warning ? blocks.warning : points.warning ? points.warning : members.warning;
  if (blocks.answer && blocks.answer->content_at != 0)
    return {restore_range_from(source, sink, *blocks.answer, begin, end, options, hooks), warning};
  source.seek(0);
  return {restore_range(source, sink, begin, end, options, hooks), warning};
}

PartReport restore_last(FileSource& source, Sink& sink, std::uint64_t bytes, const RestoreOptions& options,
                        const StreamHooks& hooks) {
  AskedIndex<std::uint64_t> size(
      source, kGzipIndexSuffix, Format::kGzip, [&](FileSource& index) -> std::optional<std::uint64_t> {
        const auto reader = GzipIndexReader::of(index, source.total_bytes().value_or(0));
        return reader ? std::optional(reader->content_bytes()) : std::nullopt;
      });
  std::string_view suffix = kGzipIndexSuffix;
  if (!size.answer && !size.warning) {
    suffix = kZstdIndexSuffix;
    size = {source, suffix, Format::kZstd, [&](FileSource& index) -> std::optional<std::uint64_t> {
              const auto reader = ZstdIndexReader::of(index, source.total_bytes().value_or(0));
              return reader ? std::optional(reader->content_bytes()) : std::nullopt;
            }};
  }
  const auto seek_to_begin = [&] {
    if (!source.seek(0)) throw ToolError("cannot be read twice (name a file)");
  };
  seek_to_begin();
  const std::uint64_t content_bytes = size.answer ? *size.answer : content_bytes_of_stream(source, options);
  seek_to_begin();
  const std::uint64_t wanted = std::min(content_bytes, bytes);
  // Up to the end, wherever that is: so it shows if it is not where the index says.
  PartReport report = restore_from_nearest(source, sink, content_bytes - wanted,
                                           size.answer ? UINT64_MAX : content_bytes, options, hooks);
  if (size.answer && report.stream.output_bytes != wanted)
    throw ToolError(
        fmt::format("the content has another size than '{}{}' says (remove that file, or 'hemstitch "
                    "index -f' writes a new one)",
                    shown_name(source.file().path()), suffix));
  if (size.warning) report.index_warning = size.warning;
  return report;
}

StreamReport restore_virtual(FileSource& source, Sink& sink, const VirtualRange& range,
                             const RestoreOptions& given, const StreamHooks& hooks) {
  RestoreOptions options = given;
  options.format = Format::kBgzf;
  constexpr std::uint64_t kInMember = (1 << kInMemberBits) - 1;
  const std::uint64_t member_at = range.begin >> kInMemberBits, begin = range.begin & kInMember;
  member_of(source, range.begin);
  std::uint64_t end = UINT64_MAX;
  if (range.end) {
    member_of(source, *range.end);
    end = bgzf_content_bytes(source, member_at, *range.end >> kInMemberBits) + (*range.end & kInMember);
  }
  if (member_at == source.total_bytes()) return {};
  source.seek(member_at);
  return restore_range(source, sink, begin, end, options, begun_inside(hooks));
}

}  // namespace hemstitch::cli
