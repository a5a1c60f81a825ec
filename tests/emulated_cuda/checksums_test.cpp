// The kernels of checksums on the processor, compared with xxHash and zlib, at every alignment: an upper guard moves a span's
// first byte, a lower one its last.
#include <gtest/gtest.h>
#include <xxhash.h>
#include <zlib.h>

#include "checksum_kernels.hpp"

namespace hemstitch {
namespace {

using namespace testing;

std::uint32_t expected_checksum(Checksum kind, const Bytes& span) {
  const auto* bytes = reinterpret_cast<const Bytef*>(span.data());
  const auto size = static_cast<uInt>(span.size());
  if (kind == Checksum::kXxh32) return XXH32(bytes, size, 0);
  // zlib takes no bytes at a null pointer for a question about the first value, which is what no bytes have.
  return static_cast<std::uint32_t>(kind == Checksum::kCrc32 ? crc32(crc32(0, nullptr, 0), bytes, size)
                                                             : adler32(adler32(0, nullptr, 0), bytes, size));
}

TEST(EmulatedChecksums, AreThoseOfTheLibraries) {
  std::vector<Bytes> spans;
  for (std::size_t size = 0; size < 300; ++size)
    spans.push_back(random_bytes(size, static_cast<std::uint32_t>(size)));
  for (const std::size_t size : {511u, 512u, 4096u, 65'537u})
    for (std::size_t more = 0; more < 4; ++more) spans.push_back(wordy_bytes(size + more));
  spans.push_back(Bytes(300'001, std::byte{0xFF}));  // the largest sums
  for (const Checksum kind : {Checksum::kXxh32, Checksum::kCrc32, Checksum::kAdler32})
    for (const Against against : {Against::kUpperGuard, Against::kLowerGuard}) {
      const auto checksums = checksums_by_kernels(kind, spans, against);
      for (std::size_t i = 0; i < spans.size(); ++i)
        ASSERT_EQ(checksums[i], expected_checksum(kind, spans[i]))
            << static_cast<int>(kind) << ", " << spans[i].size() << " bytes";
    }
}

}  // namespace
}  // namespace hemstitch
