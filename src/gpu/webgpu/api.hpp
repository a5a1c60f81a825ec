// The functions of webgpu.h that we call. Every implementation of WebGPU has them, including browsers. None
// is linked: whoever has an implementation sets the pointers (library.hpp). native.hpp has the functions of
// wgpu-native beyond them.
#pragma once

#include <webgpu/webgpu.h>

namespace hemstitch::webgpu {

#define HEMSTITCH_WEBGPU_FUNCTIONS(X)     \
  X(AdapterGetInfo)                       \
  X(AdapterGetLimits)                     \
  X(AdapterHasFeature)                    \
  X(AdapterInfoFreeMembers)               \
  X(AdapterRelease)                       \
  X(AdapterRequestDevice)                 \
  X(BindGroupLayoutRelease)               \
  X(BindGroupRelease)                     \
  X(BufferAddRef)                         \
  X(BufferGetConstMappedRange)            \
  X(BufferGetMappedRange)                 \
  X(BufferGetSize)                        \
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
  X(CreateInstance)                       \
  X(DeviceAddRef)                         \
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
  X(DevicePopErrorScope)                  \
  X(DevicePushErrorScope)                 \
  X(DeviceRelease)                        \
  X(InstanceProcessEvents)                \
  X(InstanceRelease)                      \
  X(PipelineLayoutRelease)                \
  X(QuerySetRelease)                      \
  X(QueueAddRef)                          \
  X(QueueRelease)                         \
  X(QueueSubmit)                          \
  X(QueueWriteBuffer)                     \
  X(ShaderModuleRelease)

struct Api {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name takes none
#define HEMSTITCH_WEBGPU_MEMBER(name) decltype(&wgpu##name) name = nullptr;
  HEMSTITCH_WEBGPU_FUNCTIONS(HEMSTITCH_WEBGPU_MEMBER)
#undef HEMSTITCH_WEBGPU_MEMBER
};

}  // namespace hemstitch::webgpu
