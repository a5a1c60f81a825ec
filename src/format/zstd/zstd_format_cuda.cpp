// Zstandard on CUDA devices. They restore chunks for batch.h (restore/zstd_restore_cuda.hpp); engines, which restore files, do not
// use them yet.
#include "format/formats_cuda.hpp"

namespace hemstitch::cuda {

std::vector<std::unique_ptr<DeviceFormat>> make_zstd_device_formats() { return {}; }

}  // namespace hemstitch::cuda
