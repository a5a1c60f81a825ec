// Status codes as all stages use them. The public header has the numbers and families. A block that fails has
// a Status in its task; everything else throws hemstitch::Error.
#pragma once

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

enum class StatusFamily { kOk, kRequest, kFormat, kCorrupt, kRoom, kDevice, kInternal, kSystem };

constexpr StatusFamily status_family(Status status) {
  return static_cast<StatusFamily>(static_cast<int>(status) / 100);
}
static_assert(status_family(Status::kOk) == StatusFamily::kOk);
static_assert(status_family(Status::kCancelled) == StatusFamily::kSystem);

// "could not read: No such file or directory", for errors that the system reports through errno.
Error system_error(Status status, const std::string& what, int error_number);

}  // namespace hemstitch
