// Ranges of a file, restored by a device in one run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hemstitch/hemstitch.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// Ranges of many blocks, some of them twice: one begins every `step` bytes. The backend restores them as they are in the content.
inline void expect_ranges_of_content(const std::string& backend, std::size_t content_bytes,
                                     std::uint64_t step) {
  const Bytes text = mixed_bytes(content_bytes, 9);
  for (const Format format : {Format::kBgzf, Format::kLz4}) {
    CompressOptions options;
    options.format = format;
    const Bytes frames = compress(text, options);
    std::vector<ContentBytes> ranges;
    for (std::uint64_t begin = 0; begin < text.size(); begin += step)
      ranges.push_back({begin, begin + begin / 10});
    RestoreOptions back;
    back.backend = backend;
    const std::vector<RestoredRange> restored = restore_ranges(frames, ranges, back);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::size_t end = std::min<std::uint64_t>(ranges[i].end, text.size());
      ASSERT_EQ(restored[i].status, Status::kOk) << i;
      ASSERT_TRUE(std::ranges::equal(restored[i].bytes,
                                     std::span(text).subspan(ranges[i].begin, end - ranges[i].begin)))
          << i;
    }
  }
}

}  // namespace hemstitch::testing
