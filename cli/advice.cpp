#include "cli/advice.hpp"

#include "core/advice.hpp"

namespace hemstitch::cli {
namespace {

const char* of_status(Status status) {
  switch (status) {
    case Status::kUnknownBackend:
      return "no such backend; 'hemstitch backends' lists them";
    case Status::kDictionaryNeeded:
      return "the data needs a dictionary; give the one it was written with (-D FILE)";
    case Status::kDictionaryMismatch:
      return "the data was written with another dictionary; give that one, or force this one (-f)";
    case Status::kRangeOutsideContent:
      return "the range lies outside the content; 'hemstitch -l' shows its size";
    case Status::kOutOfMemory:
      return "out of memory; use smaller blocks, fewer threads or --memory";
    case Status::kDeviceUnavailable:
      return "the device cannot be used here; 'hemstitch backends' says why";
    case Status::kDeviceLost:
      return "the device was lost; try again, or use --backend cpu";
    case Status::kDeviceOutOfMemory:
      return "the device is out of memory; set --memory, or use --backend cpu";
    case Status::kDeviceFault:
      return "the device reported an error; try again, or use --backend cpu";
    default:
      return nullptr;
  }
}

}  // namespace

void give_advice_of_the_tool() {
  current_advice = {
      .of_status = of_status,
      .cuda_build = "install the package hemstitch-cuda, or build with -DHEMSTITCH_CUDA=ON",
      .webgpu_build = "install the package hemstitch-webgpu, or build with -DHEMSTITCH_WEBGPU=ON",
      .webgpu_library = "install the package hemstitch-webgpu, or name the file in HEMSTITCH_WEBGPU_LIBRARY",
      .large_window = "--long={0} or --memory={1} allows it",
      .bgzf_index = "compress with --index to write bgzip's",
  };
}

}  // namespace hemstitch::cli
