// A batch of pages there and back, for tests of every backend.
#pragma once

#include <gtest/gtest.h>
#include <lz4.h>

#include <cstring>
#include <vector>

#include "hemstitch/pages.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

inline std::vector<const std::byte*> pointers_to(const Bytes& pages, std::uint32_t page_bytes) {
  std::vector<const std::byte*> pointers;
  for (std::size_t at = 0; at < pages.size(); at += page_bytes) pointers.push_back(pages.data() + at);
  return pointers;
}

inline std::vector<std::byte*> pointers_into(Bytes& pages, std::uint32_t page_bytes) {
  std::vector<std::byte*> pointers;
  for (std::size_t at = 0; at < pages.size(); at += page_bytes) pointers.push_back(pages.data() + at);
  return pointers;
}

// Compressed, each page held against liblz4, and restored.
inline PageBatchReport expect_round_trip(const PageBatch& batch, const Bytes& pages) {
  const std::uint32_t page_bytes = batch.options().page_bytes;
  const std::vector<const std::byte*> inputs = pointers_to(pages, page_bytes);
  Bytes kept(pages.size());
  std::vector<KeptPage> entries(inputs.size());
  PageBatchReport report = batch.compress(inputs, kept, entries);
  EXPECT_EQ(report.pages, inputs.size());
  EXPECT_EQ(report.pages, report.same_filled + report.compressed + report.raw);
  EXPECT_EQ(report.damaged, 0U);
  std::uint64_t kept_bytes = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const KeptPage& entry = entries[i];
    EXPECT_LE(entry.at + entry.bytes, kept.size());
    kept_bytes += entry.bytes;
    const std::byte* const bytes = kept.data() + entry.at;
    const bool repeats = std::memcmp(inputs[i], inputs[i] + 8, page_bytes - 8) == 0;
    EXPECT_EQ(entry.kind == PageKind::kSameFilled, repeats) << "page " << i;
    if (entry.kind == PageKind::kSameFilled) {
      EXPECT_EQ(std::memcmp(bytes, inputs[i], 8), 0);
    } else if (entry.kind == PageKind::kRaw) {
      EXPECT_EQ(std::memcmp(bytes, inputs[i], page_bytes), 0);
    } else {
      Bytes restored(page_bytes);
      EXPECT_LT(entry.bytes, page_bytes);
      EXPECT_EQ(
          LZ4_decompress_safe(reinterpret_cast<const char*>(bytes), reinterpret_cast<char*>(restored.data()),
                              static_cast<int>(entry.bytes), static_cast<int>(page_bytes)),
          static_cast<int>(page_bytes));
      EXPECT_EQ(std::memcmp(restored.data(), inputs[i], page_bytes), 0) << "page " << i;
    }
  }
  EXPECT_EQ(report.kept_bytes, kept_bytes);
  Bytes restored(pages.size(), std::byte{0x5A});
  const PageBatchReport back = batch.restore(kept, entries, pointers_into(restored, page_bytes));
  EXPECT_EQ(back.damaged, 0U);
  EXPECT_TRUE(restored == pages);
  return report;
}

}  // namespace hemstitch::testing
