#include "format/zstd/stream/zstd_block_places.hpp"

#include <algorithm>

#include "format/zstd/block/zstd_block_header.hpp"

namespace hemstitch {

ZstdBlockPlaces find_zstd_blocks(std::span<const std::byte> data, std::size_t most_blocks) {
  constexpr std::size_t kMostBytes = (std::size_t{1} << 31) - 1;
  data = data.first(std::min(data.size(), kMostBytes));
  ZstdBlockPlaces places;
  while (!places.has_last && places.at.size() < most_blocks) {
    const auto rest = data.subspan(places.data_bytes);
    if (rest.size() < kZstdBlockHeaderBytes) break;
    const ZstdBlockHeader header = read_zstd_block_header(rest.data());
    const std::size_t bytes = kZstdBlockHeaderBytes + header.data_bytes();
    if (header.type == ZstdBlockType::kReserved || bytes > rest.size()) break;
    places.at.push_back(static_cast<std::uint32_t>(places.data_bytes));
    places.data_bytes += bytes;
    places.has_last = header.last;
  }
  return places;
}

}  // namespace hemstitch
