#include <cstring>

#include "compact/pieces/each_part.hpp"
#include "compact/scatter/scatter.hpp"

namespace hemstitch {

void scatter_pieces(std::span<const std::byte> input, std::span<const std::uint64_t> offsets,
                    std::span<const std::uint32_t> sizes, std::span<std::byte* const> targets) {
  for_each_part("scatter", targets, sizes, offsets, input,
                [&](std::size_t piece, std::size_t begin, std::size_t end) {
                  std::memcpy(targets[piece] + begin, input.data() + offsets[piece] + begin, end - begin);
                });
}

}  // namespace hemstitch
