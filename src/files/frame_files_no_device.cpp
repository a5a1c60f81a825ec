#include "core/status.hpp"
#include "files/frame_files_device.hpp"

namespace hemstitch {
namespace {

[[noreturn]] void refuse() { throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA"); }

}  // namespace

std::vector<DeviceContent> load_frames_cuda(const std::vector<std::string>&, const FrameLoadOptions&,
                                            const FrameLoadSizes&) {
  refuse();
}

std::uint64_t save_frame_cuda(std::span<const std::byte>, const std::string&, const FrameSaveOptions&,
                              const FrameSaveSizes&) {
  refuse();
}

}  // namespace hemstitch
