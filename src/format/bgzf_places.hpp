// Where the members of a BGZF file begin, in the file and in the content: the index that bgzip writes beside
// a file (.gzi).
//
//   .gzi:  how many members but the first, 8 bytes | for each: where it begins in the file, 8 bytes | and in the content, 8 bytes
//
// Members without content are not listed, and so the end marker is not. Numbers are little-endian. Nothing in an index names its file:
// an index of another file, or a damaged one, is known by the members of the file alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/source.hpp"

namespace hemstitch {

struct BgzfPlace {
  std::uint64_t at = 0;          // in the file
  std::uint64_t content_at = 0;  // in the content
};

// What a member says of itself.
struct BgzfMember {
  std::uint32_t bytes = 0;          // of all of it
  std::uint32_t content_bytes = 0;  // as its trailer says
};

// Without the first member, whose places are 0 and 0. Nothing if these bytes are not such an index: the size
// is wrong, places are out of order, or more content lies between two of them than a member can hold.
std::optional<std::vector<BgzfPlace>> read_gzi(std::span<const std::byte> bytes);

// The member of BGZF that begins at this byte of a source that can seek. Reads its header and its trailer.
// Nothing if none begins there, or if it is cut off.
std::optional<BgzfMember> bgzf_member_at(Source& source, std::uint64_t at);

// The last of these places at or before this byte of the content; the beginning if there is none before. The
// source must be able to seek, and its position changes. Nothing if the members of the source show that the
// places are not theirs: the sizes of the members from the beginning to the place that follows must add up to
// the places between, and a member must begin at the last place.
//
// At most kMostComparedPlaces are compared, evenly spread over those before this byte. So the answer is
// certain in the first 256 MB of content. Beyond them, places that are all right but for one jump between two
// that are not compared are believed.
inline constexpr std::size_t kMostComparedPlaces = 4096;
std::optional<BgzfPlace> nearest_bgzf_place(std::span<const BgzfPlace> places, Source& source,
                                            std::uint64_t content_at);

// The places that an index lists, of a source that can seek and has whole members of BGZF up to this byte:
// where members with content begin, but for the first of these. Throws kUnsupportedFeature, with its place,
// if a member there is not one of BGZF.
std::vector<BgzfPlace> bgzf_places(Source& source, std::uint64_t end);

// The index with these places, as read_gzi() reads it.
std::vector<std::byte> gzi_bytes(std::span<const BgzfPlace> places);

// How much content the members from one byte of a source up to another hold, by their trailers. Throws
// kRangeOutsideContent, with its place, if what lies between are not whole members of BGZF.
std::uint64_t bgzf_content_bytes(Source& source, std::uint64_t begin, std::uint64_t end);

}  // namespace hemstitch
