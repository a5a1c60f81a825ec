#include "gpu/webgpu/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/status.hpp"
#include "gpu/webgpu/native.hpp"
#include "gpu/webgpu/shader_text.hpp"

namespace hemstitch::webgpu {
// The result of a callback, which may run on any thread.
struct Outcome {
  std::atomic<bool> done = false;
  bool succeeded = false;
  std::string message;
};

namespace {

WGPUStringView view(std::string_view text) { return {text.data(), text.size()}; }
std::string text_of(WGPUStringView text) {
  if (text.data == nullptr) return {};
  return text.length == WGPU_STRLEN ? std::string(text.data) : std::string(text.data, text.length);
}

AdapterKind kind_of(WGPUAdapterType type) {
  switch (type) {
    case WGPUAdapterType_DiscreteGPU:
      return AdapterKind::kDiscrete;
    case WGPUAdapterType_IntegratedGPU:
      return AdapterKind::kIntegrated;
    case WGPUAdapterType_CPU:
      return AdapterKind::kSoftware;
    default:
      return AdapterKind::kOther;
  }
}

// The instance and the adapters of the process.
struct Instance {
  Owned<WGPUInstance, &Api::InstanceRelease> instance;
  std::vector<Owned<WGPUAdapter, &Api::AdapterRelease>> adapters;
  AdapterSurvey survey;

  Instance() {
    if (!library().loaded) {
      survey.failure = library().reason;
      return;
    }
    const Api& api = library().api;
    instance = Owned<WGPUInstance, &Api::InstanceRelease>(make_instance(api));
    if (instance.get() == nullptr) {
      survey.failure = "wgpu-native created no instance";
      return;
    }
    for (WGPUAdapter adapter : adapters_of(instance.get())) {
      adapters.emplace_back(adapter);
      WGPUAdapterInfo info{};
      api.AdapterGetInfo(adapter, &info);
      survey.adapters.push_back({text_of(info.device), text_of(info.description), kind_of(info.adapterType),
                                 info.subgroupMinSize, info.subgroupMaxSize});
      api.AdapterInfoFreeMembers(info);
    }
  }

  // Never destroyed: drivers release their own state at exit, possibly earlier.
  static Instance& get() {
    static Instance* const instance = new Instance();
    return *instance;
  }
};

// Sleeps longer the longer it waits. A wait inside wgpu-native would hold its locks, so that no other thread
// could queue the next batch.
class Patience {
 public:
  void wait() {
    using std::chrono::microseconds;
    if (++rounds_ < kSpinRounds)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(microseconds(std::min(rounds_ - kSpinRounds + 20, 200)));
  }

 private:
  static constexpr int kSpinRounds = 50;
  int rounds_ = 0;
};

DeviceLimits smaller(const DeviceLimits& a, const DeviceLimits& b) {
  return {std::min(a.binding_bytes, b.binding_bytes), std::min(a.buffer_bytes, b.buffer_bytes),
          std::min(a.workgroups_per_dimension, b.workgroups_per_dimension),
          std::min(a.workgroup_memory_bytes, b.workgroup_memory_bytes)};
}

// The uniform blocks of all steps are in one buffer, with an alignment that every device accepts.
constexpr std::uint64_t kUniformAlignment = 256;
constexpr std::uint64_t kUniformBlockBytes = 256;
constexpr std::string_view kReverse = "reverse_workgroups";

}  // namespace

std::optional<double> stamped_seconds(std::uint64_t begin, std::uint64_t end, double tick_seconds) {
  if (begin == 0 || end <= begin) return std::nullopt;
  return double(end - begin) * tick_seconds;
}

const AdapterSurvey& adapter_survey() { return Instance::get().survey; }

Device::Device(const DeviceOptions& options)
    : api_(library().api), reverse_workgroups_(options.reverse_workgroups) {
  Instance& instance = Instance::get();
  if (!instance.survey.failure.empty()) throw Error(Status::kDeviceUnavailable, instance.survey.failure);
  const AdapterChoice choice = choose_adapter(instance.survey.adapters, options.adapter);
  if (!choice.reason.empty()) throw Error(Status::kDeviceUnavailable, choice.reason);
  facts_ = instance.survey.adapters[choice.index];
  open(instance.adapters[choice.index].get(), options);
}

Device::Device(WGPUDevice device, WGPUQueue queue) : api_(library().api) {
  if (!library().loaded) throw Error(Status::kDeviceUnavailable, library().reason);
  facts_.name = "the caller's device";
  api_.DeviceAddRef(device);
  device_ = decltype(device_)(device);
  api_.QueueAddRef(queue);
  queue_ = decltype(queue_)(queue);
  take_limits();
}

Device::~Device() = default;

void Device::open(WGPUAdapter adapter, const DeviceOptions& options) {
  WGPULimits offered = WGPU_LIMITS_INIT;
  api_.AdapterGetLimits(adapter, &offered);
  has_timestamps_ = api_.AdapterHasFeature(adapter, WGPUFeatureName_TimestampQuery) != 0;

  Outcome outcome;
  WGPURequestDeviceCallbackInfo on_device{};
  on_device.mode = WGPUCallbackMode_AllowSpontaneous;
  on_device.userdata1 = &outcome;
  on_device.userdata2 = &device_;
  on_device.callback = [](WGPURequestDeviceStatus status, WGPUDevice device, WGPUStringView message,
                          void* out, void* result) {
    auto& answer = *static_cast<Outcome*>(out);
    answer.succeeded = status == WGPURequestDeviceStatus_Success;
    answer.message = text_of(message);
    if (answer.succeeded) *static_cast<decltype(&device_)>(result) = decltype(device_)(device);
    answer.done = true;
  };

  const auto request = [&](bool large) {
    WGPULimits limits = WGPU_LIMITS_INIT;
    if (large) {
      limits.maxStorageBufferBindingSize = offered.maxStorageBufferBindingSize;
      limits.maxBufferSize = offered.maxBufferSize;
    }
    const WGPUFeatureName timestamps = WGPUFeatureName_TimestampQuery;
    WGPUDeviceDescriptor descriptor{};
    descriptor.label = view("hemstitch");
    descriptor.requiredLimits = &limits;
    descriptor.requiredFeatureCount = has_timestamps_ ? 1 : 0;
    descriptor.requiredFeatures = &timestamps;
    descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
    descriptor.deviceLostCallbackInfo.userdata1 = events_.get();
    descriptor.deviceLostCallbackInfo.callback = [](WGPUDevice const*, WGPUDeviceLostReason reason,
                                                    WGPUStringView message, void* to, void*) {
      if (reason == WGPUDeviceLostReason_Destroyed) return;
      auto& events = *static_cast<Events*>(to);
      const std::scoped_lock lock(events.mutex);
      events.lost = text_of(message);
      if (events.lost.empty()) events.lost = "no reason given";
    };
    descriptor.uncapturedErrorCallbackInfo.userdata1 = events_.get();
    descriptor.uncapturedErrorCallbackInfo.callback = [](WGPUDevice const*, WGPUErrorType type,
                                                         WGPUStringView message, void* to, void*) {
      auto& events = *static_cast<Events*>(to);
      const std::scoped_lock lock(events.mutex);
      if (events.stray_error.empty())  // the first error is the cause
        events.stray_error = fmt::format("{} (error type {})", text_of(message), static_cast<int>(type));
    };
    outcome.done = false;
    api_.AdapterRequestDevice(adapter, &descriptor, on_device);
    for (Patience patience; !outcome.done;) {
      api_.InstanceProcessEvents(Instance::get().instance.get());
      patience.wait();
    }
    return outcome.succeeded;
  };
  // An adapter does not always give the limits that it offers; WebGPU's own limits are the fallback.
  if (!request(true) && !request(false))
    throw Error(Status::kDeviceUnavailable,
                fmt::format("{} provides no device: {}", facts_.name, outcome.message));
  queue_ = decltype(queue_)(api_.DeviceGetQueue(device_.get()));
  take_limits();
  if (options.limits) limits_ = smaller(limits_, *options.limits);
}

void Device::take_limits() {
  WGPULimits given = WGPU_LIMITS_INIT;
  api_.DeviceGetLimits(device_.get(), &given);
  limits_ = {std::min<std::uint64_t>(given.maxStorageBufferBindingSize, given.maxBufferSize),
             given.maxBufferSize, given.maxComputeWorkgroupsPerDimension,
             given.maxComputeWorkgroupStorageSize};
}

void Device::throw_if_lost(std::string_view doing) {
  const std::scoped_lock lock(events_->mutex);
  if (!events_->lost.empty())
    throw Error(Status::kDeviceLost, fmt::format("{}: {} was lost: {}", doing, facts_.name, events_->lost));
  if (const std::string stray = std::exchange(events_->stray_error, {}); !stray.empty())
    throw Error(Status::kDeviceFault, fmt::format("{}: {}: {}", doing, facts_.name, stray));
}

// Collects the errors of what its thread, which holds the device's mutex, does on the device while the scope
// exists.
class Device::ErrorScope {
 public:
  explicit ErrorScope(Device& device) : device_(device) {
    for (const WGPUErrorFilter filter : kFilters)
      device_.api_.DevicePushErrorScope(device_.device_.get(), filter);
  }
  ~ErrorScope() {
    if (open_) pop();
  }
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;

  // Ends the scope, and throws the error that occurred in it, if any.
  void close(std::string_view doing) {
    open_ = false;
    const auto popped = pop();
    device_.throw_if_lost(doing);
    for (const auto& scope : popped)
      if (scope->type != WGPUErrorType_NoError)
        throw Error(
            scope->type == WGPUErrorType_OutOfMemory ? Status::kDeviceOutOfMemory : Status::kDeviceFault,
            fmt::format("{}: {}: {}", doing, device_.facts_.name, scope->message));
  }

 private:
  // Internal errors are not included: wgpu-native 29 has no filter for them.
  static constexpr std::array kFilters = {WGPUErrorFilter_Validation, WGPUErrorFilter_OutOfMemory};
  struct Popped {
    std::atomic<bool> done = false;
    WGPUErrorType type = WGPUErrorType_NoError;
    std::string message;
  };

  // The last pushed scope comes first: if memory ran out, that caused the validation errors after it.
  std::array<std::shared_ptr<Popped>, kFilters.size()> pop() {
    std::array<std::shared_ptr<Popped>, kFilters.size()> all;
    for (auto& popped : all) {
      popped = std::make_shared<Popped>();
      WGPUPopErrorScopeCallbackInfo on_popped{};
      on_popped.mode = WGPUCallbackMode_AllowSpontaneous;
      // The callback is always called; this shared pointer keeps the answer until then.
      on_popped.userdata1 = new std::shared_ptr<Popped>(popped);
      on_popped.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView message, void* out,
                              void*) {
        const std::unique_ptr<std::shared_ptr<Popped>> share(static_cast<std::shared_ptr<Popped>*>(out));
        Popped& answer = **share;
        answer.type = type;
        answer.message = text_of(message);
        answer.done = true;
      };
      device_.api_.DevicePopErrorScope(device_.device_.get(), on_popped);
    }
    for (const auto& popped : all)
      for (Patience patience; !popped->done; patience.wait()) poll(device_.device_.get());
    return all;
  }

  Device& device_;
  bool open_ = true;
};

Buffer Device::make_buffer(std::string_view name, std::uint64_t bytes, BufferUse use) {
  if (bytes > limits_.buffer_bytes)
    throw Error(Status::kDeviceOutOfMemory, fmt::format("buffer '{}' has {} bytes, {} allows {}", name, bytes,
                                                        facts_.name, limits_.buffer_bytes));
  WGPUBufferDescriptor descriptor{};
  descriptor.label = view(name);
  descriptor.size = std::max<std::uint64_t>(bytes, kSlackBytes);
  descriptor.usage = use == BufferUse::kStorage
                         ? WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst
                     : use == BufferUse::kUpload ? WGPUBufferUsage_MapWrite | WGPUBufferUsage_CopySrc
                                                 : WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst;
  const std::scoped_lock lock(mutex_);
  ErrorScope errors(*this);
  Buffer buffer(api_.DeviceCreateBuffer(device_.get(), &descriptor), descriptor.size);
  errors.close(fmt::format("buffer '{}' of {} bytes", name, bytes));
  return buffer;
}

Buffer Device::make_buffer(const BufferPlan::Part& part) {
  if (part.bytes > limits_.binding_bytes)
    throw Error(Status::kInvalidOption,
                fmt::format("buffer '{}' has {} bytes, a binding of {} at most {}", part.name, part.bytes,
                            facts_.name, limits_.binding_bytes));
  return make_buffer(part.name, part.bytes, BufferUse::kStorage);
}

BufferSet Device::make_buffers(const BufferPlan& plan) {
  BufferSet buffers;
  make_buffers(plan, buffers);
  return buffers;
}

void Device::make_buffers(const BufferPlan& plan, BufferSet& buffers) {
  for (const BufferPlan::Part& part : std::span(plan.parts()).subspan(buffers.size()))
    buffers.push_back(make_buffer(part));
}

Buffer Device::wrap(WGPUBuffer buffer) const {
  api_.BufferAddRef(buffer);
  return {buffer, api_.BufferGetSize(buffer)};
}

Device::Pipeline& Device::pipeline(const Step& step) {
  std::string key = fmt::format("{}:{}", step.shader, step.entry_point);
  for (const auto& [name, value] : step.constants) key += fmt::format(":{}={}", name, value);
  if (const auto known = pipelines_.find(key); known != pipelines_.end()) return known->second;

  ErrorScope module_errors(*this);
  const std::string_view text = shader_text(step.shader);
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view(text);
  WGPUShaderModuleDescriptor module_descriptor{};
  module_descriptor.nextInChain = &source.chain;
  module_descriptor.label = view(step.shader);
  const Owned<WGPUShaderModule, &Api::ShaderModuleRelease> module(
      make_shader_module(device_.get(), module_descriptor));
  module_errors.close(key);
  ErrorScope errors(*this);

  // Binding 0 is the uniform block.
  std::vector<WGPUBindGroupLayoutEntry> entries;
  const auto add_entry = [&](std::size_t number, WGPUBufferBindingType type) {
    WGPUBindGroupLayoutEntry entry{};
    entry.binding = static_cast<std::uint32_t>(number);
    entry.visibility = WGPUShaderStage_Compute;
    entry.buffer.type = type;
    entries.push_back(entry);
  };
  add_entry(0, WGPUBufferBindingType_Uniform);
  for (std::size_t i = 0; i < step.bindings.size(); ++i)
    if (step.bindings[i].access != Access::kNone)
      add_entry(i + 1, step.bindings[i].access == Access::kReadWrite ? WGPUBufferBindingType_Storage
                                                                     : WGPUBufferBindingType_ReadOnlyStorage);
  WGPUBindGroupLayoutDescriptor layout_descriptor{};
  layout_descriptor.entryCount = entries.size();
  layout_descriptor.entries = entries.data();
  Pipeline made;
  made.bindings =
      decltype(made.bindings)(api_.DeviceCreateBindGroupLayout(device_.get(), &layout_descriptor));
  const WGPUBindGroupLayout group = made.bindings.get();
  WGPUPipelineLayoutDescriptor pipeline_layout_descriptor{};
  pipeline_layout_descriptor.bindGroupLayoutCount = 1;
  pipeline_layout_descriptor.bindGroupLayouts = &group;
  const Owned<WGPUPipelineLayout, &Api::PipelineLayoutRelease> layout(
      api_.DeviceCreatePipelineLayout(device_.get(), &pipeline_layout_descriptor));

  std::vector<WGPUConstantEntry> constants;
  for (const auto& [name, value] : step.constants) constants.push_back({nullptr, view(name), value});
  if (reverse_workgroups_ && text.find(kReverse) != std::string_view::npos)
    constants.push_back({nullptr, view(kReverse), 1});
  WGPUComputePipelineDescriptor descriptor{};
  descriptor.label = view(key);
  descriptor.layout = layout.get();
  descriptor.compute.module = module.get();
  descriptor.compute.entryPoint = view(step.entry_point);
  descriptor.compute.constantCount = constants.size();
  descriptor.compute.constants = constants.data();
  made.pipeline = decltype(made.pipeline)(api_.DeviceCreateComputePipeline(device_.get(), &descriptor));
  errors.close(key);
  return pipelines_.emplace(std::move(key), std::move(made)).first->second;
}

void Device::compile(const Recording& recording) {
  const std::scoped_lock lock(mutex_);
  for (const Step& step : recording.steps()) pipeline(step);
}

std::size_t Device::pipeline_count() {
  const std::scoped_lock lock(mutex_);
  return pipelines_.size();
}

void Device::encode(WGPUCommandEncoder encoder, const Recording& recording, const BufferSet& buffers,
                    WGPUQuerySet queries) {
  if (recording.steps().empty()) return;
  // wgpu-native keeps the buffer alive until the submission is done with it.
  std::vector<std::byte> uniforms(recording.steps().size() * kUniformAlignment);
  for (std::size_t i = 0; i < recording.steps().size(); ++i) {
    const auto& parameters = recording.steps()[i].parameters;
    if (parameters.size() * sizeof(std::uint32_t) > kUniformBlockBytes)
      throw Error(Status::kInternal, "a uniform block is too large");
    if (!parameters.empty())
      std::memcpy(uniforms.data() + i * kUniformAlignment, parameters.data(),
                  parameters.size() * sizeof(std::uint32_t));
  }
  WGPUBufferDescriptor uniform_descriptor{};
  uniform_descriptor.label = view("uniform blocks");
  uniform_descriptor.size = uniforms.size();
  uniform_descriptor.usage = WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst;
  ErrorScope uniform_errors(*this);
  const Owned<WGPUBuffer, &Api::BufferRelease> uniform(
      api_.DeviceCreateBuffer(device_.get(), &uniform_descriptor));
  uniform_errors.close("uniform blocks");
  api_.QueueWriteBuffer(queue_.get(), uniform.get(), 0, uniforms.data(), uniforms.size());

  using Pass = Owned<WGPUComputePassEncoder, &Api::ComputePassEncoderRelease>;
  Pass pass;
  const auto begin_pass = [&](const WGPUPassTimestampWrites* stamps) {
    WGPUComputePassDescriptor descriptor{};
    descriptor.timestampWrites = stamps;
    pass = Pass(api_.CommandEncoderBeginComputePass(encoder, &descriptor));
  };
  for (std::size_t i = 0; i < recording.steps().size(); ++i) {
    const Step& step = recording.steps()[i];
    // With timestamps each step is a pass of its own.
    if (queries != nullptr) {
      WGPUPassTimestampWrites stamps{};
      stamps.querySet = queries;
      stamps.beginningOfPassWriteIndex = static_cast<std::uint32_t>(2 * i);
      stamps.endOfPassWriteIndex = static_cast<std::uint32_t>(2 * i + 1);
      begin_pass(&stamps);
    } else if (pass.get() == nullptr) {
      begin_pass(nullptr);
    }
    if (step.workgroup_count > 0) {
      Pipeline& compiled = pipeline(step);
      std::vector<WGPUBindGroupEntry> entries;
      const auto add_entry = [&](std::size_t number, WGPUBuffer buffer, std::uint64_t offset,
                                 std::uint64_t bytes) {
        WGPUBindGroupEntry entry{};
        entry.binding = static_cast<std::uint32_t>(number);
        entry.buffer = buffer;
        entry.offset = offset;
        entry.size = bytes;
        entries.push_back(entry);
      };
      add_entry(0, uniform.get(), i * kUniformAlignment, kUniformBlockBytes);
      for (std::size_t b = 0; b < step.bindings.size(); ++b) {
        if (step.bindings[b].access == Access::kNone) continue;
        const Buffer& buffer = buffers[step.bindings[b].buffer.index];
        add_entry(b + 1, buffer.get(), 0, buffer.bytes());
      }
      WGPUBindGroupDescriptor descriptor{};
      descriptor.layout = compiled.bindings.get();
      descriptor.entryCount = entries.size();
      descriptor.entries = entries.data();
      ErrorScope errors(*this);
      const Owned<WGPUBindGroup, &Api::BindGroupRelease> group(
          api_.DeviceCreateBindGroup(device_.get(), &descriptor));
      errors.close(fmt::format("bindings of {}:{}", step.shader, step.entry_point));
      const DispatchSize size = dispatch_size(step.workgroup_count, limits_.workgroups_per_dimension);
      api_.ComputePassEncoderSetPipeline(pass.get(), compiled.pipeline.get());
      api_.ComputePassEncoderSetBindGroup(pass.get(), 0, group.get(), 0, nullptr);
      api_.ComputePassEncoderDispatchWorkgroups(pass.get(), size.x, size.y, 1);
    }
    if (queries != nullptr || i + 1 == recording.steps().size()) {
      api_.ComputePassEncoderEnd(pass.get());
      pass = Pass();
    }
  }
}

void Device::submit(std::span<const Copy> before, const Recording& recording, const BufferSet& buffers,
                    std::span<const Copy> after, std::vector<StepTime>* times) {
  const std::uint64_t stamp_count = 2 * recording.steps().size();
  const bool stamped = times != nullptr && has_timestamps_ && stamp_count > 0;
  Owned<WGPUQuerySet, &Api::QuerySetRelease> queries;
  Buffer stamps, stamps_read;
  if (stamped)
    stamps_read =
        make_buffer("timestamps to read", stamp_count * sizeof(std::uint64_t), BufferUse::kDownload);
  const std::string doing = recording.steps().empty()
                                ? std::string("copying")
                                : fmt::format("a batch of {} steps from {}:{} on", recording.steps().size(),
                                              recording.steps()[0].shader, recording.steps()[0].entry_point);
  std::unique_lock lock(mutex_);
  ErrorScope recording_errors(*this);
  if (stamped) {
    WGPUQuerySetDescriptor descriptor{};
    descriptor.type = WGPUQueryType_Timestamp;
    descriptor.count = static_cast<std::uint32_t>(stamp_count);
    queries = decltype(queries)(api_.DeviceCreateQuerySet(device_.get(), &descriptor));
    WGPUBufferDescriptor resolved{};
    resolved.label = view("timestamps");
    resolved.size = stamp_count * sizeof(std::uint64_t);
    resolved.usage = WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc;
    stamps = Buffer(api_.DeviceCreateBuffer(device_.get(), &resolved), resolved.size);
  }
  {
    const Owned<WGPUCommandEncoder, &Api::CommandEncoderRelease> encoder(
        api_.DeviceCreateCommandEncoder(device_.get(), nullptr));
    const auto copy_all = [&](std::span<const Copy> copies) {
      for (const Copy& copy : copies)
        if (copy.bytes > 0)
          api_.CommandEncoderCopyBufferToBuffer(encoder.get(), copy.from->get(), copy.from_byte,
                                                copy.to->get(), copy.to_byte, copy.bytes);
    };
    copy_all(before);
    encode(encoder.get(), recording, buffers, queries.get());
    copy_all(after);
    if (queries.get() != nullptr) {
      api_.CommandEncoderResolveQuerySet(encoder.get(), queries.get(), 0,
                                         static_cast<std::uint32_t>(stamp_count), stamps.get(), 0);
      api_.CommandEncoderCopyBufferToBuffer(encoder.get(), stamps.get(), 0, stamps_read.get(), 0,
                                            stamp_count * sizeof(std::uint64_t));
    }
    const Owned<WGPUCommandBuffer, &Api::CommandBufferRelease> commands(
        api_.CommandEncoderFinish(encoder.get(), nullptr));
    recording_errors.close(doing);  // so that a faulty recording is not submitted
    ErrorScope submitting_errors(*this);
    const WGPUCommandBuffer one = commands.get();
    api_.QueueSubmit(queue_.get(), 1, &one);
    submitting_errors.close(doing);
  }
  lock.unlock();
  if (times == nullptr) return;
  times->clear();
  const std::uint64_t* values = nullptr;
  if (queries.get() != nullptr)
    values = reinterpret_cast<const std::uint64_t*>(
        map_for_reading(stamps_read, stamp_count * sizeof(std::uint64_t)));
  const double tick_seconds = values == nullptr ? 0 : seconds_per_tick(queue_.get());
  for (std::size_t i = 0; i < recording.steps().size(); ++i) {
    const Step& step = recording.steps()[i];
    StepTime time{fmt::format("{}:{}", step.shader, step.entry_point), {}};
    if (values != nullptr) time.seconds = stamped_seconds(values[2 * i], values[2 * i + 1], tick_seconds);
    times->push_back(std::move(time));
  }
  if (values != nullptr) unmap(stamps_read);
}

std::shared_ptr<Outcome> Device::start_mapping(const Buffer& buffer, WGPUMapMode mode, std::uint64_t bytes) {
  auto outcome = std::make_shared<Outcome>();
  WGPUBufferMapCallbackInfo on_mapped{};
  on_mapped.mode = WGPUCallbackMode_AllowSpontaneous;
  // The callback is always called, at the latest when the buffer is destroyed; this shared pointer keeps the
  // outcome until then.
  on_mapped.userdata1 = new std::shared_ptr<Outcome>(outcome);
  on_mapped.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* out, void*) {
    const std::unique_ptr<std::shared_ptr<Outcome>> share(static_cast<std::shared_ptr<Outcome>*>(out));
    Outcome& answer = **share;
    answer.succeeded = status == WGPUMapAsyncStatus_Success;
    answer.message = text_of(message);
    answer.done = true;
  };
  const std::scoped_lock lock(mutex_);
  ErrorScope errors(*this);
  api_.BufferMapAsync(buffer.get(), mode, 0, divided_up(bytes, 4) * 4, on_mapped);
  errors.close("mapping a buffer");
  return outcome;
}

void Device::finish_mapping(const Outcome& outcome) {
  for (Patience patience; !outcome.done; patience.wait()) poll(device_.get());
  throw_if_lost("mapping a buffer");
  if (!outcome.succeeded)
    throw Error(Status::kDeviceFault,
                fmt::format("mapping a buffer of {}: {}", facts_.name, outcome.message));
}

PendingRead Device::start_reading(const Buffer& buffer, std::uint64_t bytes) {
  PendingRead read;
  read.outcome_ = start_mapping(buffer, WGPUMapMode_Read, bytes);
  read.buffer_ = &buffer;
  read.bytes_ = bytes;
  return read;
}

bool Device::is_ready(const PendingRead& read) {
  if (!read.outcome_->done) poll(device_.get());
  return read.outcome_->done;
}

const std::byte* Device::finish_reading(const PendingRead& read) {
  finish_mapping(*read.outcome_);
  return static_cast<const std::byte*>(
      api_.BufferGetConstMappedRange(read.buffer_->get(), 0, divided_up(read.bytes_, 4) * 4));
}

std::byte* Device::map_for_writing(const Buffer& buffer, std::uint64_t bytes) {
  finish_mapping(*start_mapping(buffer, WGPUMapMode_Write, bytes));
  return static_cast<std::byte*>(api_.BufferGetMappedRange(buffer.get(), 0, divided_up(bytes, 4) * 4));
}

const std::byte* Device::map_for_reading(const Buffer& buffer, std::uint64_t bytes) {
  return finish_reading(start_reading(buffer, bytes));
}

void Device::unmap(const Buffer& buffer) { api_.BufferUnmap(buffer.get()); }

void Device::write(const Buffer& buffer, std::span<const std::byte> bytes, std::uint64_t at) {
  if (bytes.empty()) return;
  const std::scoped_lock lock(mutex_);
  ErrorScope errors(*this);
  const std::size_t whole = bytes.size() / 4 * 4;
  if (whole > 0) api_.QueueWriteBuffer(queue_.get(), buffer.get(), at, bytes.data(), whole);
  if (whole < bytes.size()) {
    std::byte last[4] = {};
    std::memcpy(last, bytes.data() + whole, bytes.size() - whole);
    api_.QueueWriteBuffer(queue_.get(), buffer.get(), at + whole, last, sizeof last);
  }
  errors.close("writing a buffer");
}

void Device::read(const Buffer& buffer, std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  const std::uint64_t whole = divided_up(bytes.size(), 4) * 4;
  const Buffer download = make_buffer("read-back", whole, BufferUse::kDownload);
  const Copy copy{&buffer, 0, &download, 0, whole};
  submit({}, {}, {}, {&copy, 1});
  std::memcpy(bytes.data(), map_for_reading(download, whole), bytes.size());
  unmap(download);
}

}  // namespace hemstitch::webgpu
