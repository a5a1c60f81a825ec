#include "core/status.hpp"
#include "files/memory/file_memory.hpp"

namespace hemstitch {

std::unique_ptr<FileMemory> make_cuda_file_memory(std::size_t, std::string_view) {
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA");
}

}  // namespace hemstitch
