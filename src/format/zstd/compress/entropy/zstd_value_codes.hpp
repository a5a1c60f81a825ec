// The codes of a sequence's values (RFC 8878, section 3.1.1.3.2.1.1) without a search in their tables, for devices.
#pragma once

#include <bit>
#include <cstdint>

#include "core/host_device.hpp"
#include "format/zstd/block/zstd_symbols.hpp"

namespace hemstitch {

// Of 1 or more.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t zstd_floor_log2(std::uint32_t number) {
#if defined(__CUDA_ARCH__)
  return 31 - static_cast<std::uint32_t>(__clz(static_cast<int>(number)));
#else
  return static_cast<std::uint32_t>(std::bit_width(number)) - 1;
#endif
}

// Of a count of literals.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t zstd_run_code(std::uint32_t literals) {
  return literals < 16   ? literals
         : literals < 24 ? 8 + literals / 2
         : literals < 32 ? 14 + literals / 4
         : literals < 48 ? 18 + literals / 8
         : literals < 64 ? 24
                         : 19 + zstd_floor_log2(literals);
}

// Of a match's length, 3 or more.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t zstd_match_code(std::uint32_t length) {
  const std::uint32_t more = length - 3;
  return more < 32    ? more
         : more < 40  ? 16 + more / 2
         : more < 48  ? 26 + more / 4
         : more < 64  ? 32 + more / 8
         : more < 96  ? 36 + more / 16
         : more < 128 ? 42
                      : 36 + zstd_floor_log2(more);
}

#if !defined(__CUDA_ARCH__)  // __clz() is no constant
namespace zstd_value_codes_detail {
template <std::size_t count, class CodeOf>
constexpr bool agree(const std::array<ZstdCode, count>& codes, const CodeOf& code_of) {
  for (std::uint32_t code = 0; code < count; ++code)
    if (code_of(codes[code].base) != code ||
        code_of(codes[code].base + (std::uint32_t{1} << codes[code].bits) - 1) != code)
      return false;
  return true;
}
static_assert(agree(kZstdLiteralCodes, [](std::uint32_t value) { return zstd_run_code(value); }));
static_assert(agree(kZstdMatchCodes, [](std::uint32_t value) { return zstd_match_code(value); }));
}  // namespace zstd_value_codes_detail
#endif

}  // namespace hemstitch
