#include "format/bgzf_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/bytes.hpp"
#include "core/status.hpp"
#include "format/deflate/frame/deflate_head.hpp"
#include "format/deflate/frame/gzip_reader.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kCountBytes = 8, kPlaceBytes = 16;

// Whether the members from one place on lead to another.
bool lead_to(const BgzfPlace& from, const BgzfPlace& to, Source& source) {
  BgzfPlace place = from;
  while (place.at < to.at) {
    const std::optional<BgzfMember> member = bgzf_member_at(source, place.at);
    if (!member) return false;
    place.at += member->bytes;
    place.content_at += member->content_bytes;
  }
  return place.at == to.at && place.content_at == to.content_at;
}

}  // namespace

std::optional<std::vector<BgzfPlace>> read_gzi(std::span<const std::byte> bytes) {
  if (bytes.size() < kCountBytes || bytes.size() % kPlaceBytes != kCountBytes ||
      load_le64(bytes.data()) != bytes.size() / kPlaceBytes)
    return std::nullopt;
  std::vector<BgzfPlace> places;
  BgzfPlace before;
  for (bytes = bytes.subspan(kCountBytes); !bytes.empty(); bytes = bytes.subspan(kPlaceBytes)) {
    const BgzfPlace place{load_le64(bytes.data()), load_le64(bytes.data() + 8)};
    // An empty member takes no bytes of the content.
    if (place.at <= before.at || place.content_at < before.content_at ||
        place.content_at - before.content_at > kBgzfMostContentBytes)
      return std::nullopt;
    places.push_back(before = place);
  }
  return places;
}

std::optional<BgzfMember> bgzf_member_at(Source& source, std::uint64_t at) {
  constexpr std::size_t kExtraAt = kGzipFixedBytes + 2;
  std::array<std::byte, kExtraAt> head;
  if (!source.seek(at) || source.read(head) != head.size() || !is_gzip(head) ||
      static_cast<unsigned>(head[2]) != kDeflateMethod || static_cast<unsigned>(head[3]) != kGzipExtraFlag)
    return std::nullopt;
  std::vector<std::byte> extra(load_le16(&head[kGzipFixedBytes]));
  if (source.read(extra) != extra.size()) return std::nullopt;
  BgzfMember member;
  member.bytes = bgzf_member_bytes(extra.data(), extra.size());
  std::array<std::byte, 4> content_bytes;
  if (member.bytes < kExtraAt + extra.size() + kBgzfLeastDataBytes + kGzipTrailerBytes ||
      !source.seek(at + member.bytes - content_bytes.size()) ||
      source.read(content_bytes) != content_bytes.size())
    return std::nullopt;
  member.content_bytes = load_le32(content_bytes.data());
  return member.content_bytes > kBgzfMostContentBytes ? std::nullopt : std::optional(member);
}

std::optional<BgzfPlace> nearest_bgzf_place(std::span<const BgzfPlace> places, Source& source,
                                            std::uint64_t content_at) {
  // The beginning is a place that the index does not list.
  const auto place = [&](std::size_t i) { return i == 0 ? BgzfPlace() : places[i - 1]; };
  const auto behind = std::ranges::partition_point(
      places, [&](const BgzfPlace& one) { return one.content_at <= content_at; });
  const auto nearest = static_cast<std::size_t>(behind - places.begin());
  if (!bgzf_member_at(source, place(places.size()).at)) return std::nullopt;
  if (nearest < places.size() && !lead_to(place(nearest), place(nearest + 1), source)) return std::nullopt;
  const std::size_t compared = std::min(nearest, kMostComparedPlaces);
  for (std::size_t i = 0; i < compared; ++i) {
    // The last one is that before the nearest place.
    const std::size_t from = nearest - 1 - i * nearest / compared;
    if (!lead_to(place(from), place(from + 1), source)) return std::nullopt;
  }
  return place(nearest);
}

std::vector<BgzfPlace> bgzf_places(Source& source, std::uint64_t end) {
  std::vector<BgzfPlace> places;
  for (BgzfPlace place; place.at < end;) {
    const std::optional<BgzfMember> member = bgzf_member_at(source, place.at);
    if (!member)
      throw Error(Status::kUnsupportedFeature, "what begins here is not a member of BGZF",
                  {std::nullopt, std::nullopt, place.at});
    if (member->content_bytes != 0) places.push_back(place);
    place.at += member->bytes;
    place.content_at += member->content_bytes;
  }
  if (!places.empty()) places.erase(places.begin());
  return places;
}

std::vector<std::byte> gzi_bytes(std::span<const BgzfPlace> places) {
  std::vector<std::byte> bytes(kCountBytes + kPlaceBytes * places.size());
  store_le64(bytes.data(), places.size());
  std::byte* at = bytes.data() + kCountBytes;
  for (const BgzfPlace& place : places) {
    store_le64(at, place.at);
    store_le64(at + 8, place.content_at);
    at += kPlaceBytes;
  }
  return bytes;
}

std::uint64_t bgzf_content_bytes(Source& source, std::uint64_t begin, std::uint64_t end) {
  BgzfPlace place{begin, 0};
  while (place.at < end) {
    const std::optional<BgzfMember> member = bgzf_member_at(source, place.at);
    if (!member || member->bytes > end - place.at)
      throw Error(Status::kRangeOutsideContent,
                  fmt::format("the member of BGZF here does not lead to byte {}", end),
                  {std::nullopt, std::nullopt, place.at});
    place.at += member->bytes;
    place.content_at += member->content_bytes;
  }
  return place.content_at;
}

}  // namespace hemstitch
