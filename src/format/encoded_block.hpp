// The result of encoding one block.
#pragma once

#include <cstddef>

#include "core/status.hpp"

namespace hemstitch {

struct EncodedBlock {
  Status status = Status::kInternal;  // kOk, or kOutputTooSmall
  std::size_t bytes = 0;              // written to the output, when status is kOk
};

}  // namespace hemstitch
