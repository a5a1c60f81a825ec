// How the CPU goes through the pieces of a span: each task owns a range of the span and works on the parts of
// pieces in it, however pieces are cut.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/overlap.hpp"
#include "core/parallel.hpp"
#include "core/status.hpp"

namespace hemstitch {

// Bytes of the span that one thread copies at a time. This takes far longer than starting a task, and is
// little enough that 16 threads can share 16 MB.
inline constexpr std::size_t kPiecesGrainBytes = 256 << 10;

// Calls `work(piece, begin, end)` from many threads, so that all bytes of each piece are covered exactly
// once. `function` is the name for errors. `counterparts` are where the pieces of `span` come from or go to.
template <class Byte, class Work>
void for_each_part(std::string_view function, std::span<Byte* const> counterparts,
                   std::span<const std::uint32_t> sizes, std::span<const std::uint64_t> offsets,
                   std::span<const std::byte> span, const Work& work) {
  if (sizes.size() != counterparts.size() || offsets.size() != counterparts.size())
    throw Error(Status::kInvalidOption, fmt::format("{}: {} pieces, {} sizes and {} offsets", function,
                                                    counterparts.size(), sizes.size(), offsets.size()));
  if (sizes.empty()) return;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (offsets[i] > span.size() || sizes[i] > span.size() - offsets[i])
      throw Error(Status::kOutputTooSmall, fmt::format("{}: piece {} of {} bytes at {} is outside {} bytes",
                                                       function, i, sizes[i], offsets[i], span.size()));
    if (i > 0 && offsets[i] < offsets[i - 1])
      throw Error(Status::kInvalidOption,
                  fmt::format("{}: the offset of piece {} is below that of the one before", function, i));
  }
  const std::uint64_t first = offsets.front(), last = offsets.back() + sizes.back();
  const auto taken = span.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (overlap({counterparts[i], sizes[i]}, taken))
      throw Error(Status::kInvalidOption,
                  fmt::format("{}: the memory of piece {} overlaps the span; give it memory of its own",
                              function, i));
  const std::size_t share_count = (last - first + kPiecesGrainBytes - 1) / kPiecesGrainBytes;
  run_in_parallel(share_count, 1, [&](std::size_t share) {
    const std::uint64_t share_begin = first + share * kPiecesGrainBytes,
                        share_end = std::min<std::uint64_t>(share_begin + kPiecesGrainBytes, last);
    // The last piece that begins at or before the share may reach into it.
    std::size_t piece = static_cast<std::size_t>(
        std::upper_bound(offsets.begin(), offsets.end(), share_begin) - offsets.begin());
    piece -= piece != 0;
    for (; piece < offsets.size() && offsets[piece] < share_end; ++piece) {
      const std::size_t begin = std::max(offsets[piece], share_begin);
      const std::size_t end = std::min(offsets[piece] + sizes[piece], share_end);
      if (begin < end) work(piece, begin - offsets[piece], end - offsets[piece]);
    }
  });
}

}  // namespace hemstitch
