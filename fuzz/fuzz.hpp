// What all targets share. A target takes numbers for its choices from the end of an input (FuzzedDataProvider's integers)
// and data from its beginning, so that a corpus of blocks or frames is one of plain files with a few bytes behind them.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "core/status.hpp"
#include "hemstitch/hemstitch.hpp"
#include "shapes.hpp"

namespace hemstitch::fuzz {

using testing::Bytes;

// Ends the run, with a stack that says where.
inline void require(bool condition) {
  if (!condition) std::abort();
}

// Up to `most` bytes from the front.
inline Bytes take_bytes(FuzzedDataProvider& input, std::size_t most) {
  return input.ConsumeBytes<std::byte>(input.ConsumeIntegralInRange<std::size_t>(0, most));
}

inline Bytes rest_of(FuzzedDataProvider& input) { return input.ConsumeRemainingBytes<std::byte>(); }

// Like restore(), without a message: nothing where that throws.
inline std::optional<Bytes> restored(std::span<const std::byte> frames, const RestoreOptions& options) {
  try {
    return restore(frames, options);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace hemstitch::fuzz
