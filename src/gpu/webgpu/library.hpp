// wgpu-native, loaded when it is first asked for: a program without it runs, and says what is missing.
//
// Looked for in this order: the file that HEMSTITCH_WEBGPU_LIBRARY names; beside the program or library that holds this
// code, in lib/ there and in ../lib; where this build found it; where the system looks for libraries.
#pragma once

#include <string>

#include "gpu/webgpu/wgpu_header.hpp"

namespace hemstitch::webgpu {

// The functions that we call, of webgpu.h and (the second row) of wgpu-native's own wgpu.h.
#define HEMSTITCH_WEBGPU_FUNCTIONS(X)     \
  X(CreateInstance)                       \
  X(AdapterGetInfo)                       \
  X(AdapterGetLimits)                     \
  X(AdapterHasFeature)                    \
  X(AdapterInfoFreeMembers)               \
  X(AdapterRelease)                       \
  X(AdapterRequestDevice)                 \
  X(BindGroupLayoutRelease)               \
  X(BindGroupRelease)                     \
  X(BufferGetConstMappedRange)            \
  X(BufferGetMappedRange)                 \
  X(BufferMapAsync)                       \
  X(BufferRelease)                        \
  X(BufferUnmap)                          \
  X(CommandBufferRelease)                 \
  X(CommandEncoderBeginComputePass)       \
  X(CommandEncoderClearBuffer)            \
  X(CommandEncoderCopyBufferToBuffer)     \
  X(CommandEncoderFinish)                 \
  X(CommandEncoderRelease)                \
  X(CommandEncoderResolveQuerySet)        \
  X(ComputePassEncoderDispatchWorkgroups) \
  X(ComputePassEncoderEnd)                \
  X(ComputePassEncoderRelease)            \
  X(ComputePassEncoderSetBindGroup)       \
  X(ComputePassEncoderSetPipeline)        \
  X(ComputePipelineRelease)               \
  X(DeviceCreateBindGroup)                \
  X(DeviceCreateBindGroupLayout)          \
  X(DeviceCreateBuffer)                   \
  X(DeviceCreateCommandEncoder)           \
  X(DeviceCreateComputePipeline)          \
  X(DeviceCreatePipelineLayout)           \
  X(DeviceCreateQuerySet)                 \
  X(DeviceDestroy)                        \
  X(DeviceGetLimits)                      \
  X(DeviceGetQueue)                       \
  X(DeviceRelease)                        \
  X(InstanceProcessEvents)                \
  X(InstanceRelease)                      \
  X(PipelineLayoutRelease)                \
  X(QuerySetRelease)                      \
  X(QueueRelease)                         \
  X(QueueSubmit)                          \
  X(QueueWriteBuffer)                     \
  X(ShaderModuleRelease)                  \
  X(DeviceCreateShaderModuleTrusted)      \
  X(DevicePoll)                           \
  X(GetVersion) X(InstanceEnumerateAdapters) X(QueueGetTimestampPeriod) X(SetLogCallback) X(SetLogLevel)

struct Api {
#define HEMSTITCH_WEBGPU_MEMBER(name) decltype(&wgpu##name) name = nullptr;
  HEMSTITCH_WEBGPU_FUNCTIONS(HEMSTITCH_WEBGPU_MEMBER)
#undef HEMSTITCH_WEBGPU_MEMBER
};

struct Library {
  bool loaded = false;
  Api api;
  std::string path;     // of the file, where it was loaded
  std::string version;  // wgpu-native's own
  std::string reason;   // why it could not be loaded, and what mends it
};

// Loaded at the first call, and then the same for the process. Thread safety: any thread.
const Library& library();

}  // namespace hemstitch::webgpu
