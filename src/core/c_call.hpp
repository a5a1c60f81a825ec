// What every function of the C interface does: exceptions become a status, and their message is kept for the thread.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// The message of the calling thread's last failed call; empty if none failed.
inline std::string& last_error_message() {
  thread_local std::string message;
  return message;
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
  last_error_message().clear();
  try {
    call();
    return HEMSTITCH_OK;
  } catch (const Error& error) {
    last_error_message() = error.what();
    return static_cast<hemstitch_status>(error.status());
  } catch (const std::bad_alloc&) {
    last_error_message() = status_text(Status::kOutOfMemory);
    return HEMSTITCH_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    last_error_message() = error.what();
    return HEMSTITCH_INTERNAL;
  }
}

}  // namespace hemstitch
