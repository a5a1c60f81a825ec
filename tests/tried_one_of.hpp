// How many of the many rounds of a test are tried.
#pragma once

#include <cstdint>

namespace hemstitch::testing {

// Sanitizers take many times as long: they get some of the rounds.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint32_t kTriedOneOf = 7;
#else
inline constexpr std::uint32_t kTriedOneOf = 1;
#endif

}  // namespace hemstitch::testing
