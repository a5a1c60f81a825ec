#include "batch/batch_device.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

[[noreturn]] void unavailable() {
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA");
}

}  // namespace

std::size_t batch_find_temp_bytes(const hemstitch_batch&, const BatchFinder&) { unavailable(); }

void batch_find_async(const hemstitch_batch&, const BatchFinder&, hemstitch_candidate*, std::uint64_t*,
                      hemstitch_status*, void*, std::size_t, hemstitch_stream) {
  unavailable();
}

std::size_t batch_parse_temp_bytes(const hemstitch_batch&, const BatchParse&) { unavailable(); }

void batch_parse_async(const hemstitch_batch&, const BatchParse&, const hemstitch_candidate*,
                       const BatchLists&, hemstitch_status*, void*, std::size_t, hemstitch_stream) {
  unavailable();
}

}  // namespace hemstitch
