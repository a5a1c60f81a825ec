// What every function of the C interface does: exceptions become a status, and their message is kept for the thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// The message of a thread's last failed call, ended by a zero; empty if none failed. It takes no memory of malloc's, also not for
// its end with the thread, so that short memory can be told of. What is longer is cut off: places in the data stand first.
using CallMessage = std::array<char, 1024>;

inline CallMessage& last_error_message() {
  static constinit thread_local CallMessage message{};
  return message;
}

inline void keep_error_message(std::string_view text) noexcept {
  CallMessage& message = last_error_message();
  *std::copy_n(text.begin(), std::min(text.size(), message.size() - 1), message.begin()) = '\0';
}

// A pointer that a call cannot do without; kInvalidOption names it where it is NULL.
template <class T>
T* needed(T* pointer, std::string_view name) {
  if (pointer == nullptr) throw Error(Status::kInvalidOption, std::string(name) + " is NULL");
  return pointer;
}

// Arrays without elements may be left out.
inline void need_for(std::uint64_t count, const void* pointer, std::string_view name) {
  if (count != 0) needed(pointer, name);
}

// Runs `call` and turns what it throws into a status.
template <class Call>
hemstitch_status guarded(const Call& call) {
  keep_error_message({});
  try {
    call();
    return HEMSTITCH_OK;
  } catch (const Error& error) {
    keep_error_message(error.what());
    return static_cast<hemstitch_status>(error.status());
  } catch (const std::bad_alloc&) {
    keep_error_message(status_text(Status::kOutOfMemory));
    return HEMSTITCH_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    keep_error_message(error.what());
    return HEMSTITCH_INTERNAL;
  }
}

}  // namespace hemstitch
