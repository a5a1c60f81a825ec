#include "batch/batch_compact_device.hpp"
#include "batch/no_device.hpp"

namespace hemstitch {
std::size_t batch_scan_temp_bytes(std::uint64_t) { throw_no_cuda(); }

void batch_scan_async(const std::uint32_t*, std::uint64_t, std::uint64_t*, void*, std::size_t,
                      hemstitch_stream) {
  throw_no_cuda();
}

std::size_t batch_gather_temp_bytes(std::uint64_t) { throw_no_cuda(); }

void batch_gather_async(const void* const*, const std::uint32_t*, const std::uint64_t*, std::uint64_t, void*,
                        void*, std::size_t, hemstitch_stream) {
  throw_no_cuda();
}

std::size_t batch_scatter_temp_bytes(std::uint64_t) { throw_no_cuda(); }

void batch_scatter_async(const void*, const std::uint64_t*, const std::uint32_t*, std::uint64_t, void* const*,
                         void*, std::size_t, hemstitch_stream) {
  throw_no_cuda();
}

std::size_t batch_shuffle_temp_bytes(std::uint64_t) { throw_no_cuda(); }

void batch_shuffle_async(const void* const*, const std::size_t*, void* const*, std::uint64_t, std::uint32_t,
                         void*, std::size_t, hemstitch_stream) {
  throw_no_cuda();
}

void batch_unshuffle_async(const void* const*, const std::size_t*, void* const*, std::uint64_t, std::uint32_t,
                           void*, std::size_t, hemstitch_stream) {
  throw_no_cuda();
}

}  // namespace hemstitch
