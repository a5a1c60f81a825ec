// Any bytes as frames: one-shot, pushed in pieces and as a range, with and without checksums. All ways must
// agree, and where liblz4 restores what we refuse, or the other way round, the run stops.
#include <cstdlib>

#include "core/status.hpp"
#include "lz4f_oracle.hpp"
#include "pipeline/stream.hpp"

using namespace hemstitch;
using hemstitch::testing::Bytes;

namespace {

std::optional<Bytes> restored(std::span<const std::byte> frames, const RestoreOptions& options) {
  try {
    return restore(frames, options);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<Bytes> restored_in_pieces(std::span<const std::byte> frames, const RestoreOptions& options,
                                        std::size_t piece_bytes) {
  try {
    Bytes content;
    Decompressor decompressor(options, [&](std::span<const std::byte> bytes) {
      content.insert(content.end(), bytes.begin(), bytes.end());
    });
    for (std::size_t at = 0; at < frames.size(); at += piece_bytes)
      decompressor.write(frames.subspan(at, std::min(piece_bytes, frames.size() - at)));
    decompressor.finish();
    return content;
  } catch (const Error&) {
    return std::nullopt;
  }
}

class CollectSink : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override {
    content.insert(content.end(), bytes.begin(), bytes.end());
  }
  Bytes content;
};

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece_bytes = 1 + data[0];
  const std::span<const std::byte> frames(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  RestoreOptions options;
  options.threads = 1;
  const auto whole = restored(frames, options);
  require(restored_in_pieces(frames, options, piece_bytes) == whole);
  if (whole) {
    require(restored_bytes(frames) == whole->size());
    const std::size_t begin = whole->size() / 3, end = whole->size() - whole->size() / 4;
    MemorySource source(frames);
    CollectSink sink;
    restore_range(source, sink, begin, end, options);
    require(sink.content == Bytes(whole->begin() + static_cast<std::ptrdiff_t>(begin),
                                  whole->begin() + static_cast<std::ptrdiff_t>(end)));
  }
  options.verify_checksums = false;
  const auto unverified = restored(frames, options);
  if (whole) require(unverified == whole);
  return 0;
}
