#include "gpu/cuda/scratch.hpp"

#include <fmt/format.h>

#include "core/status.hpp"

namespace hemstitch::cuda {

void check_scratch(std::string_view function, std::size_t needed_bytes, const void* d_scratch,
                   std::size_t scratch_bytes) {
  if (scratch_bytes < needed_bytes || (needed_bytes != 0 && d_scratch == nullptr))
    throw Error(Status::kInvalidOption, fmt::format("{}: {} bytes of scratch given, {} needed", function,
                                                    d_scratch == nullptr ? 0 : scratch_bytes, needed_bytes));
}

}  // namespace hemstitch::cuda
