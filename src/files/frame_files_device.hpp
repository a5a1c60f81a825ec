// The device's part of loading and saving frames, with checked options. Builds with CUDA have
// frame_load_cuda.cpp and frame_save_cuda.cpp, others stubs that throw kDeviceUnavailable
// (cmake/no_device_stubs.cmake).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "files/frame_files_tuning.hpp"
#include "hemstitch/files.hpp"

namespace hemstitch {

std::vector<DeviceContent> load_frames_cuda(const std::vector<std::string>& paths,
                                            const FrameLoadOptions& options,
                                            const FrameLoadSizes& sizes = {});
std::uint64_t save_frame_cuda(std::span<const std::byte> content, const std::string& path,
                              const FrameSaveOptions& options, const FrameSaveSizes& sizes = {});

}  // namespace hemstitch
