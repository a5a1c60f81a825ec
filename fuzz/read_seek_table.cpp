// Any bytes behind frames of Zstandard, as the seek table of a seekable file. The whole file must restore to what the
// frames hold, or be refused; a part is never longer than what was asked for, and is the right one where every frame
// states its size.
#include <zstd.h>

#include "core/random_access.hpp"
#include "format/zstd/frame/zstd_places.hpp"
#include "fuzz.hpp"
#include "hemstitch/ranges.hpp"
#include "shapes.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

namespace {

constexpr std::size_t kFrameBytes = 64 << 10;

const Bytes& content() {
  static const Bytes bytes = wordy_bytes(3 * kFrameBytes + 1);
  return bytes;
}

// Frames with their sizes, or without.
const Bytes& frames(bool sizes) {
  static const auto make = [](bool stated) {
    Bytes all;
    for (std::size_t at = 0; at < content().size(); at += kFrameBytes) {
      const auto part = std::span(content()).subspan(at, std::min(kFrameBytes, content().size() - at));
      ZSTD_CCtx* const context = ZSTD_createCCtx();
      ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, stated ? 1 : 0);
      Bytes frame(ZSTD_compressBound(part.size()));
      frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), part.data(), part.size()));
      ZSTD_freeCCtx(context);
      all.insert(all.end(), frame.begin(), frame.end());
    }
    return all;
  };
  static const Bytes with = make(true), without = make(false);
  return sizes ? with : without;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const bool sizes = input.ConsumeBool();
  const auto begin = input.ConsumeIntegralInRange<std::uint64_t>(0, content().size() + 1);
  const std::uint64_t end = begin + input.ConsumeIntegralInRange<std::uint64_t>(0, 3000);
  Bytes file = frames(sizes);
  const Bytes table = rest_of(input);
  file.insert(file.end(), table.begin(), table.end());
  RestoreOptions options;
  options.backend = "cpu";
  options.threads = 1;
  std::uint64_t used_bytes = 0;
  options.used_bytes = &used_bytes;
  try {
    require(restore(file, options) == content() || used_bytes > frames(sizes).size());
  } catch (const Error&) {
  }
  const ContentBytes range{begin, end};
  try {
    const RestoredRange restored = restore_ranges(file, {&range, 1}, options).front();
    require(restored.bytes.size() <= end - begin);
    if (restored.status == Status::kOk && sizes && end <= content().size())
      require(std::ranges::equal(restored.bytes, std::span(content()).subspan(begin, end - begin)));
  } catch (const Error&) {
  }
  return 0;
}
