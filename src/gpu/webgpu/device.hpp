// A WebGPU device: buffers, pipelines compiled on first use, recordings executed in order, results read back.
//
// An error is thrown by the call that caused it, and by no other thread's call: kDeviceOutOfMemory, or
// kDeviceFault with WebGPU's own message (from error scopes). Only kDeviceLost reaches every call.
//
// Thread safety: any number of threads may use one Device; a Buffer belongs to one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/webgpu/adapter_choice.hpp"
#include "gpu/webgpu/library.hpp"
#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

// Limits for planning. Tests inject smaller ones, so that small inputs cross every boundary.
struct DeviceLimits {
  std::uint64_t binding_bytes = 128u << 20;  // of one buffer, as a shader sees it
  std::uint64_t buffer_bytes = 256u << 20;
  std::uint32_t workgroups_per_dimension = 65535;
  std::uint32_t workgroup_memory_bytes = 16384;
};

// The adapters of this machine; empty, with the reason, if the library or every driver is missing.
struct AdapterSurvey {
  std::vector<AdapterFacts> adapters;
  std::string failure;
};
// Made once in a process.
const AdapterSurvey& adapter_survey();

// Holds one object of wgpu-native and releases it.
template <typename Handle, auto kRelease>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != nullptr) (library().api.*kRelease)(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

class Device;

// Device memory, or host memory that the device copies to or from.
class Buffer {
 public:
  Buffer() = default;
  std::uint64_t bytes() const { return bytes_; }
  WGPUBuffer get() const { return buffer_.get(); }

 private:
  friend class Device;
  Buffer(WGPUBuffer buffer, std::uint64_t bytes) : buffer_(buffer), bytes_(bytes) {}
  Owned<WGPUBuffer, &Api::BufferRelease> buffer_;
  std::uint64_t bytes_ = 0;
};

struct Outcome;  // of a callback

// A kDownload buffer that is being mapped. The buffer must outlive it, or be unmapped first.
class PendingRead {
 public:
  PendingRead() = default;

 private:
  friend class Device;
  std::shared_ptr<Outcome> outcome_;
  const Buffer* buffer_ = nullptr;
  std::uint64_t bytes_ = 0;
};

enum class BufferUse {
  kStorage,   // read and written by shaders, copied from and to
  kUpload,    // mapped for writing, copied from
  kDownload,  // copied to, mapped for reading
};

using BufferSet = std::vector<Buffer>;  // in the order of a BufferPlan

// Copies between buffers, before or after the steps of a submission. Places and sizes are multiples of 4.
struct Copy {
  const Buffer* from = nullptr;
  std::uint64_t from_byte = 0;
  const Buffer* to = nullptr;
  std::uint64_t to_byte = 0;
  std::uint64_t bytes = 0;
};

// The time between two timestamps in ticks; nothing if one was not written (0), or if they decrease.
std::optional<double> stamped_seconds(std::uint64_t begin, std::uint64_t end, double tick_seconds);

// How long a step took on the device. Nothing if the device has no timestamps or returned impossible ones.
struct StepTime {
  std::string name;  // shader and entry point
  std::optional<double> seconds;
};

struct DeviceOptions {
  std::string adapter;                 // see choose_adapter()
  std::optional<DeviceLimits> limits;  // never above the adapter's
  // Workgroups take their numbers in descending order, so that a result that depends on their order is
  // noticed.
  bool reverse_workgroups = false;
};

class Device {
 public:
  // Throws kDeviceUnavailable.
  explicit Device(const DeviceOptions& options = {});
  // A caller's device; it gets references. If it is lost, the caller's own callback is notified.
  Device(WGPUDevice device, WGPUQueue queue);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const AdapterFacts& adapter() const { return facts_; }
  const DeviceLimits& limits() const { return limits_; }
  bool has_timestamps() const { return has_timestamps_; }

  // Storage is zeroed. Throws kDeviceOutOfMemory.
  Buffer make_buffer(std::string_view name, std::uint64_t bytes, BufferUse use);
  // Storage for a part of a plan. Throws kInvalidOption if it is larger than a binding may be.
  Buffer make_buffer(const BufferPlan::Part& part);
  // All of a plan; throws the same.
  BufferSet make_buffers(const BufferPlan& plan);
  // The same; appends to `buffers`, which are the first parts of the plan.
  void make_buffers(const BufferPlan& plan, BufferSet& buffers);
  // A caller's buffer; it gets a reference.
  Buffer wrap(WGPUBuffer buffer) const;

  // Copies, then the recording's steps, then copies. They are queued and not awaited, unless `times` is
  // given: then the call waits, and returns how long each step took.
  void submit(std::span<const Copy> before, const Recording& recording, const BufferSet& buffers,
              std::span<const Copy> after, std::vector<StepTime>* times = nullptr);
  // The same with nothing to copy.
  void run(const Recording& recording, const BufferSet& buffers, std::vector<StepTime>* times = nullptr) {
    submit({}, recording, buffers, {}, times);
  }

  // Maps a kUpload or kDownload buffer once the device has finished with it. Call unmap() before the device
  // uses it again.
  std::byte* map_for_writing(const Buffer& buffer, std::uint64_t bytes);
  const std::byte* map_for_reading(const Buffer& buffer, std::uint64_t bytes);
  void unmap(const Buffer& buffer);
  // map_for_reading() in two parts. The first never waits, and neither does is_ready().
  PendingRead start_reading(const Buffer& buffer, std::uint64_t bytes);
  bool is_ready(const PendingRead& read);
  const std::byte* finish_reading(const PendingRead& read);

  // The device itself, for callers that continue to work there with the results.
  WGPUDevice get() const { return device_.get(); }
  WGPUQueue queue() const { return queue_.get(); }

  // Copies after waiting for all work so far: for tests and small results. `at` is a multiple of 4.
  void write(const Buffer& buffer, std::span<const std::byte> bytes, std::uint64_t at = 0);
  void read(const Buffer& buffer, std::span<std::byte> bytes);

  // Compiles every entry point of the recording, so that the first batch does not wait for it.
  void compile(const Recording& recording);
  // How many are compiled so far, each once.
  std::size_t pipeline_count();

 private:
  struct Pipeline {
    Owned<WGPUBindGroupLayout, &Api::BindGroupLayoutRelease> bindings;
    Owned<WGPUComputePipeline, &Api::ComputePipelineRelease> pipeline;
  };
  // Written by callbacks, on any thread.
  struct Events {
    std::mutex mutex;
    std::string stray_error;  // outside of any scope; the next call that checks throws it
    std::string lost;
  };
  class ErrorScope;

  void open(WGPUAdapter adapter, const DeviceOptions& options);
  void take_limits();
  Pipeline& pipeline(const Step& step);
  void encode(WGPUCommandEncoder encoder, const Recording& recording, const BufferSet& buffers,
              WGPUQuerySet queries);
  std::shared_ptr<Outcome> start_mapping(const Buffer& buffer, WGPUMapMode mode, std::uint64_t bytes);
  void finish_mapping(const Outcome& outcome);
  void throw_if_lost(std::string_view doing);

  const Api& api_;
  AdapterFacts facts_;
  DeviceLimits limits_;
  bool has_timestamps_ = false;
  bool reverse_workgroups_ = false;
  std::unique_ptr<Events> events_ = std::make_unique<Events>();
  Owned<WGPUDevice, &Api::DeviceRelease> device_;
  Owned<WGPUQueue, &Api::QueueRelease> queue_;

  std::mutex mutex_;  // guards what follows, the order of submissions, and the device's stack of error scopes
  std::map<std::string, Pipeline> pipelines_;
};

}  // namespace hemstitch::webgpu
