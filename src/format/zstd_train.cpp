#include "format/zstd_train.hpp"

#include <fmt/format.h>
#include <zdict.h>

#include <algorithm>

#include "core/bytes.hpp"
#include "core/status.hpp"

namespace hemstitch {

std::vector<std::byte> train_zstd_dictionary(std::span<const std::byte> samples,
                                             std::span<const std::size_t> sample_bytes,
                                             std::size_t most_bytes, std::uint32_t id) {
  if (sample_bytes.size() < kLeastZstdSamples || std::ranges::min(sample_bytes) < kLeastZstdSampleBytes)
    throw Error(Status::kInvalidOption,
                fmt::format("at least {} samples of {} bytes or more make a dictionary", kLeastZstdSamples,
                            kLeastZstdSampleBytes));
  std::vector<std::byte> dictionary(most_bytes);
  const std::size_t bytes =
      ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), samples.data(), sample_bytes.data(),
                            static_cast<unsigned>(sample_bytes.size()));
  if (ZDICT_isError(bytes) != 0)
    throw Error(
        Status::kInvalidOption,
        fmt::format(
            "{} samples with {} bytes give no dictionary of {} bytes: they are too few, too short, or "
            "have too little in common (libzstd: {})",
            sample_bytes.size(), samples.size(), most_bytes, ZDICT_getErrorName(bytes)));
  dictionary.resize(bytes);
  constexpr std::size_t kIdAt = 4;  // behind the magic number
  if (id != 0) store_le32(dictionary.data() + kIdAt, id);
  return dictionary;
}

}  // namespace hemstitch
