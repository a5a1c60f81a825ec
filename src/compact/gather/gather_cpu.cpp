#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

#include "compact/gather/gather.hpp"
#include "compact/gather/gather_tuning.hpp"
#include "core/status.hpp"

namespace hemstitch {

void gather_pieces(std::span<const std::byte* const> sources, std::span<const std::uint32_t> sizes,
                   std::span<const std::uint64_t> offsets, std::span<std::byte> output) {
  if (sizes.size() != sources.size() || offsets.size() != sources.size())
    throw Error(Status::kInvalidOption, fmt::format("gather: {} sources, {} sizes and {} offsets",
                                                    sources.size(), sizes.size(), offsets.size()));
  if (sources.empty()) return;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (offsets[i] > output.size() || sizes[i] > output.size() - offsets[i])
      throw Error(Status::kOutputTooSmall,
                  fmt::format("gather: piece {} of {} bytes at {} is outside {} bytes", i, sizes[i],
                              offsets[i], output.size()));

  // Each task owns a range of the output and copies what falls into it, however pieces are cut.
  const tbb::blocked_range<std::size_t> all(0, offsets.back() + sizes.back(), kGatherGrainBytes);
  tbb::parallel_for(all, [&](const tbb::blocked_range<std::size_t>& range) {
    // The last piece that begins at or before the range may reach into it.
    std::size_t piece = static_cast<std::size_t>(
        std::upper_bound(offsets.begin(), offsets.end(), std::uint64_t{range.begin()}) - offsets.begin());
    piece -= piece != 0;
    for (; piece < offsets.size() && offsets[piece] < range.end(); ++piece) {
      const std::size_t begin = std::max<std::size_t>(offsets[piece], range.begin());
      const std::size_t end = std::min<std::size_t>(offsets[piece] + sizes[piece], range.end());
      if (begin < end)
        std::memcpy(output.data() + begin, sources[piece] + (begin - offsets[piece]), end - begin);
    }
  });
}

}  // namespace hemstitch
