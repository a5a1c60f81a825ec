// Makes dictionaries for Zstandard (RFC 8878, section 5) by libzstd's trainer: of many short samples, what they have in
// common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hemstitch {

inline constexpr std::size_t kLeastTrainedBytes = 256;
inline constexpr std::size_t kLeastZstdSamples = 8;
inline constexpr std::size_t kLeastZstdSampleBytes = 8;  // of each: libzstd divides by zero if there are less

// `samples` are one after the other. The dictionary has at most `most_bytes`, kLeastTrainedBytes at least. `id` 0: one that
// follows from its content. The same samples give the same dictionary. Throws kInvalidOption if the samples have too little
// in common, or are too few or too short.
std::vector<std::byte> train_zstd_dictionary(std::span<const std::byte> samples,
                                             std::span<const std::size_t> sample_bytes,
                                             std::size_t most_bytes, std::uint32_t id);

}  // namespace hemstitch
