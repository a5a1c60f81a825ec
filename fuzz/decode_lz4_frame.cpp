// Any bytes as frames: restored at once, pushed in pieces, and as a range, with and without checksums and
// dictionary. All ways must agree in verdict and bytes. So must liblz4's frame API, except where
// lz4_differences.hpp says that it differs.
#include <random>

#include "collect_sink.hpp"
#include "fuzz.hpp"
#include "lz4_differences.hpp"
#include "pipeline/stream.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

namespace {

using testing::Lz4Outcome;

// Content before an error is not compared: how much of it there is depends on the reader.
Lz4Outcome restored_at_once(std::span<const std::byte> frames, const RestoreOptions& options) {
  try {
    return {Status::kOk, restore(frames, options)};
  } catch (const Error& error) {
    return {error.status(), {}};
  }
}

Lz4Outcome restored_in_pieces(std::span<const std::byte> frames, const RestoreOptions& options,
                              std::mt19937& random) {
  try {
    Bytes content;
    Decompressor decompressor(options, [&](std::span<const std::byte> bytes) {
      content.insert(content.end(), bytes.begin(), bytes.end());
    });
    while (!frames.empty()) {
      const std::size_t bytes = std::min<std::size_t>(frames.size(), 1 + random() % (1u << random() % 9));
      decompressor.write(frames.first(bytes));
      frames = frames.subspan(bytes);
    }
    decompressor.finish();
    return {Status::kOk, std::move(content)};
  } catch (const Error& error) {
    return {error.status(), {}};
  }
}

void require_range(std::span<const std::byte> frames, const RestoreOptions& options, const Bytes& whole) {
  const std::size_t begin = whole.size() / 3, end = whole.size() - whole.size() / 4;
  MemorySource source(frames);
  testing::CollectSink sink;
  restore_range(source, sink, begin, end, options);
  require(sink.content == Bytes(whole.begin() + static_cast<std::ptrdiff_t>(begin),
                                whole.begin() + static_cast<std::ptrdiff_t>(end)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> frames(reinterpret_cast<const std::byte*>(data), size);
  static const Bytes dictionary = testing::wordy_bytes(1000);
  // The corpus has plain frames, so the other choices are derived from the frames.
  std::mt19937 random(lz4_checksum(frames));
  RestoreOptions options;
  options.threads = 1;
  options.memory_limit_bytes = 17 << 20;  // room for a block of any size, but not for three
  if (random() % 2 == 0) {
    options.dictionary = dictionary;
    options.accept_any_dictionary_id = true;
  }

  const Lz4Outcome whole = restored_at_once(frames, options);
  require(restored_in_pieces(frames, options, random) == whole);
  const bool is_restored = whole.status == Status::kOk;
  if (is_restored) {
    require(restored_bytes(frames) == whole.content.size());
    require_range(frames, options, whole.content);
  }
  const auto by_liblz4 = testing::lz4f_restore(frames, options.dictionary.empty() ? Bytes{} : dictionary);
  require(testing::lz4_difference_of(frames, whole, by_liblz4).has_value());

  options.verify_checksums = false;
  const Lz4Outcome unverified = restored_at_once(frames, options);
  if (is_restored) require(unverified == whole);
  return 0;
}
