// What every function of the C interface does: exceptions become a status, and their message is kept for the thread.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// The message of the calling thread's last failed call; empty if none failed.
inline std::string& last_error_message() {
  thread_local std::string message;
  return message;
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
