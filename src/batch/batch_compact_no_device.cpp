#include "batch/batch_compact_device.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

[[noreturn]] void unavailable() {
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA");
}

}  // namespace

std::size_t batch_scan_temp_bytes(std::uint64_t) { unavailable(); }

void batch_scan_async(const std::uint32_t*, std::uint64_t, std::uint64_t*, void*, std::size_t,
                      hemstitch_stream) {
  unavailable();
}

std::size_t batch_gather_temp_bytes(std::uint64_t) { unavailable(); }

void batch_gather_async(const void* const*, const std::uint32_t*, const std::uint64_t*, std::uint64_t, void*,
                        void*, std::size_t, hemstitch_stream) {
  unavailable();
}

std::size_t batch_scatter_temp_bytes(std::uint64_t) { unavailable(); }

void batch_scatter_async(const void*, const std::uint64_t*, const std::uint32_t*, std::uint64_t, void* const*,
                         void*, std::size_t, hemstitch_stream) {
  unavailable();
}

}  // namespace hemstitch
