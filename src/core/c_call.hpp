// Used by every function of the C interface: turns exceptions into a status and keeps their message for the
// thread.
#pragma once

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// The message of a thread's last failed call, ended by a zero; empty if none failed. It needs no memory from
// malloc, not even when the thread ends, so it can also report that memory ran out. Longer messages are cut
// off at the end; the place in the data comes first.
using CallMessage = std::array<char, 1024>;

inline CallMessage& last_error_message() {
  static constinit thread_local CallMessage message{};
  return message;
}

inline void keep_error_message(std::string_view text) noexcept {
  CallMessage& message = last_error_message();
  *std::copy_n(text.begin(), std::min(text.size(), message.size() - 1), message.begin()) = '\0';
}

// A pointer that must not be NULL; otherwise throws kInvalidOption with its name.
template <class T>
T* needed(T* pointer, std::string_view name) {
  if (pointer == nullptr) throw Error(Status::kInvalidOption, std::string(name) + " is NULL");
  return pointer;
}

// Arrays without elements may be NULL.
inline void need_for(std::uint64_t count, const void* pointer, std::string_view name) {
  if (count != 0) needed(pointer, name);
}

// The number in an enumeration of C. Any number may be there, but to read one as an enumerator that is not
// declared is undefined in C++.
template <class Enumeration>
int number_of(const Enumeration& given) {
  int number;
  static_assert(sizeof number == sizeof given);
  std::memcpy(&number, &given, sizeof number);
  return number;
}

inline constexpr hemstitch_place kNoPlace{0, 0, UINT64_MAX};

// The place of the error in a thread's last failed call.
inline hemstitch_place& last_error_place() {
  static constinit thread_local hemstitch_place place = kNoPlace;
  return place;
}

inline hemstitch_place place_for_c(const Place& place) {
  return {place.frame.value_or(0), place.block.value_or(0), place.byte_offset.value_or(UINT64_MAX)};
}

// The `size` of a structure that begins with it.
template <class Structure>
std::size_t sized_bytes(const Structure* given, std::string_view name) {
  if (given->size < sizeof(std::size_t) || given->size % alignof(Structure) != 0)
    throw Error(Status::kInvalidOption, std::string(name) + ".size is " + std::to_string(given->size) +
                                            "; set it to the structure's size by sizeof");
  return given->size;
}

// Reads a structure from a caller whose header may be older or newer than this library. Its first member,
// `size`, says how much of it there is; the rest counts as zero. NULL counts as all zeros. Members of a newer
// header that this library does not know must be zero.
template <class Options>
Options sized(const Options* given, std::string_view name) {
  Options options{};
  if (given == nullptr) return options;
  const std::size_t size = sized_bytes(given, name);
  const auto* const bytes = reinterpret_cast<const std::byte*>(given);
  if (size > sizeof(Options) &&
      std::any_of(bytes + sizeof(Options), bytes + size, [](std::byte byte) { return byte != std::byte{0}; }))
    throw Error(Status::kInvalidOption, std::string(name) +
                                            " has a member that Hemstitch " HEMSTITCH_VERSION_STRING
                                            " does not know: leave it zero, or use a newer library");
  std::memcpy(&options, given, std::min(size, sizeof(Options)));
  options.size = sizeof(Options);
  return options;
}

// The other direction: writes as much of `made` as the caller's structure has room for, then zeros.
template <class Result>
void fill_sized(Result* result, Result made, std::string_view name) {
  const std::size_t size = sized_bytes(needed(result, name), name);
  made.size = size;
  auto* const bytes = reinterpret_cast<std::byte*>(result);
  std::memcpy(bytes, &made, std::min(size, sizeof(Result)));
  if (size > sizeof(Result)) std::fill(bytes + sizeof(Result), bytes + size, std::byte{0});
}

// Runs `call` and turns any exception into a status: functions of the caller may throw what they like. Only
// the unwinding of a thread that ends itself or is cancelled passes; glibc ends the process if it does not.
// What is caught of it is a reference to nothing, which sanitizers would not have.
template <class Call>
__attribute__((no_sanitize("undefined"))) hemstitch_status guarded(const Call& call) {
  keep_error_message({});
  last_error_place() = kNoPlace;
  try {
    call();
    return HEMSTITCH_OK;
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) {
    throw;
#endif
  } catch (const Error& error) {
    keep_error_message(error.what());
    last_error_place() = place_for_c(error.place());
    return static_cast<hemstitch_status>(error.status());
  } catch (const std::bad_alloc&) {
    keep_error_message(status_text(Status::kOutOfMemory));
    return HEMSTITCH_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    keep_error_message(error.what());
    return HEMSTITCH_INTERNAL;
  } catch (...) {
    keep_error_message("a function of the caller threw something that is no std::exception");
    return HEMSTITCH_INTERNAL;
  }
}

}  // namespace hemstitch
