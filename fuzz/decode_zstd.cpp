// Any bytes as a frame of Zstandard, with and without a dictionary: by the reference, in pieces, by libzstd's streaming decoder,
// and through the library on both backends. All give the same verdict and the same bytes, but for what
// docs/formats/zstd.md lists. Some inputs are valid frames that no encoder writes.
#include <cstring>

#include "fuzz.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_frames.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

constexpr std::size_t kMostBytes = 1000;  // four of them may be 128 KB of content

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most_bytes);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most_bytes,
                                               unsigned seed) {
  constexpr unsigned kOneIn = 50;
  if (seed % kOneIn == 0) {
    constexpr std::size_t kChoiceBytes = 3;
    ValidData made = valid_zstd_frame(seed / kOneIn, 2 * kMostBytes);
    made.data.resize(made.data.size() + kChoiceBytes);
    if (made.dictionary.empty() && made.data.size() <= std::min(most_bytes, kMostBytes)) {
      std::memcpy(data, made.data.data(), made.data.size());
      return made.data.size();
    }
  }
  return LLVMFuzzerMutate(data, size, most_bytes);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMostBytes) return -1;
  static const Bytes trained = trained_dictionary();
  FuzzedDataProvider input(data, size);
  const std::size_t piece_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 300);
  const Bytes dictionary = input.ConsumeBool() ? trained : Bytes();
  const Bytes frame = rest_of(input);

  const ZstdRead ours = read_by_reference(frame, dictionary, piece_bytes);
  const bool is_whole = ours.outcome == ZstdOutcome::kWhole;
  if (!only_we_refuse(ours)) {
    const ZstdRead theirs = read_by_libzstd(frame, dictionary);
    const bool their_whole = theirs.outcome == ZstdOutcome::kWhole;
    require(is_whole == their_whole || only_libzstd_refuses(ours));
    if (is_whole && their_whole)
      require(ours.content == theirs.content && ours.used_bytes == theirs.used_bytes);
  }
  const auto first = std::span(frame).first(is_whole ? ours.used_bytes : frame.size());
  for (const char* backend : {"reference", "cpu"}) {
    RestoreOptions options;
    options.format = Format::kZstd;
    options.backend = backend;
    options.threads = 1;
    options.dictionary = dictionary;
    const std::optional<Bytes> content = restored(first, options);
    if (is_whole) require(content == ours.content);
  }
  return 0;
}
