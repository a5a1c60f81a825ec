// Finds the first occurrence of a string in a text: memmem(), or faster code if the processor has AVX2.
//
// It looks at 32 positions together. Positions with the string's first byte at the beginning and its last
// byte at the end are compared in full. That costs the same for rare and common strings: about a tenth of a
// nanosecond for each byte, where memmem() takes two to five times as long for strings of a few bytes. If
// nearly every position of a text passes, but few hold the string, memmem() does the rest; its time is
// bounded by the text's size alone.
#pragma once

#include <string_view>

namespace hemstitch {

// npos if there is none. `string` must not be empty.
std::string_view::size_type find_bytes(std::string_view text, std::string_view string);

}  // namespace hemstitch
