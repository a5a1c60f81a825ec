#include <cstring>

#include "compact/gather/gather.hpp"
#include "compact/pieces/each_part.hpp"

namespace hemstitch {

void gather_pieces(std::span<const std::byte* const> sources, std::span<const std::uint32_t> sizes,
                   std::span<const std::uint64_t> offsets, std::span<std::byte> output) {
  for_each_part("gather", sources, sizes, offsets, output,
                [&](std::size_t piece, std::size_t begin, std::size_t end) {
                  std::memcpy(output.data() + offsets[piece] + begin, sources[piece] + begin, end - begin);
                });
}

}  // namespace hemstitch
