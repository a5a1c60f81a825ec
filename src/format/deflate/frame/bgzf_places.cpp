#include "format/deflate/frame/bgzf_places.hpp"

#include <fmt/format.h>

#include "core/bytes.hpp"
#include "core/status.hpp"
#include "format/deflate/frame/gzip_reader.hpp"

namespace hemstitch {

std::optional<std::vector<BgzfPlace>> read_gzi(std::span<const std::byte> bytes) {
  constexpr std::size_t kCountBytes = 8, kPlaceBytes = 16;
  if (bytes.size() < kCountBytes || bytes.size() % kPlaceBytes != kCountBytes ||
      load_le64(bytes.data()) != bytes.size() / kPlaceBytes)
    return std::nullopt;
  std::vector<BgzfPlace> places;
  BgzfPlace before;
  for (bytes = bytes.subspan(kCountBytes); !bytes.empty(); bytes = bytes.subspan(kPlaceBytes)) {
    const BgzfPlace place{load_le64(bytes.data()), load_le64(bytes.data() + 8)};
    // An empty member takes no bytes of the content.
    if (place.at <= before.at || place.content_at < before.content_at) return std::nullopt;
    places.push_back(before = place);
  }
  return places;
}

std::uint64_t bgzf_content_bytes(Source& source, std::uint64_t bytes) {
  GzipReader reader(true);
  std::vector<std::byte> buffer;
  std::uint64_t content_bytes = 0;
  while (reader.position() < bytes && !reader.in_stream()) {
    buffer.resize(reader.wanted_bytes());
    const std::size_t count = source.read(buffer);
    const FrameReader::Event event = reader.step(std::span(buffer).first(count));
    if (event == FrameReader::Event::kEnd || event == FrameReader::Event::kGarbage) break;
    if (event == FrameReader::Event::kBlockEnd) content_bytes += reader.block().content_bytes.value();
  }
  if (reader.position() != bytes || reader.in_stream())
    throw Error(Status::kRangeOutsideContent,
                fmt::format("no BGZF member begins {} bytes after this one", bytes));
  return content_bytes;
}

}  // namespace hemstitch
