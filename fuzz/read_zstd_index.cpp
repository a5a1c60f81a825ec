// Any points as the index of a Zstandard file, with checksums that are right. The reader must refuse it, or restore a part
// that is not longer than what was asked for.
#include <zstd.h>

#include "core/bytes.hpp"
#include "format/checksum.hpp"
#include "format/zstd_index.hpp"
#include "fuzz.hpp"
#include "hemstitch/ranges.hpp"
#include "shapes.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

namespace {

const Bytes& file() {
  static const Bytes bytes = [] {
    const Bytes content = wordy_bytes(400'000);
    Bytes frame(ZSTD_compressBound(content.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 3));
    return frame;
  }();
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  constexpr std::size_t kHeadBytes = 32, kPointBytes = 52, kProofAt = 44, kProofBytes = 64;
  const auto begin = input.ConsumeIntegralInRange<std::uint64_t>(0, 400'001);
  const std::uint64_t end = begin + input.ConsumeIntegralInRange<std::uint64_t>(0, 3000);
  const std::size_t count = input.ConsumeIntegralInRange<std::size_t>(0, 8);
  Bytes index = rest_of(input);
  if (index.size() < kHeadBytes + count * kPointBytes) return 0;
  std::copy_n(reinterpret_cast<const std::byte*>("ZSTIDX\0\1"), 8, index.begin());
  store_le64(&index[8], file().size());
  store_le32(&index[24], static_cast<std::uint32_t>(count));
  store_le32(&index[28], 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const point = &index[kHeadBytes + i * kPointBytes];
    const std::uint64_t at = load_le64(point);
    if (at < file().size())
      store_le32(point + kProofAt,
                 checksum_of(Checksum::kXxh64, std::span(file()).subspan(at).first(
                                                   std::min<std::size_t>(kProofBytes, file().size() - at))));
  }
  store_le32(&index[28],
             checksum_of(Checksum::kXxh64, std::span(index).first(kHeadBytes + count * kPointBytes)));
  RestoreOptions options;
  options.backend = "cpu";
  options.threads = 1;
  options.index = index;
  const ContentBytes range{begin, end};
  try {
    const RestoredRange restored = restore_ranges(file(), {&range, 1}, options).front();
    require(restored.bytes.size() <= end - begin);
  } catch (const Error&) {
  }
  return 0;
}
