#include "core/status.hpp"
#include "hemstitch/device_memory.hpp"

namespace hemstitch {
namespace {

[[noreturn]] void refuse_memory() {
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA");
}

}  // namespace

struct OnDevice::Impl {};

OnDevice::OnDevice(int) { refuse_memory(); }
OnDevice::~OnDevice() = default;

int device_of(const std::byte*) { refuse_memory(); }

DeviceContent make_device_memory(std::uint64_t, CUstream_st*) { refuse_memory(); }

void upload_to_device(std::span<const std::span<const std::byte>>, std::span<const std::uint64_t>,
                      std::byte*) {
  refuse_memory();
}

void download_from_device(const std::byte*, std::span<std::byte>, CUstream_st*) { refuse_memory(); }

void copy_on_device(const std::byte*, std::uint64_t, std::byte*, CUstream_st*) { refuse_memory(); }

void order_after(CUstream_st*, CUstream_st*) { refuse_memory(); }

}  // namespace hemstitch
