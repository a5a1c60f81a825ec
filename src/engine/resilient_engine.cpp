#include "engine/resilient_engine.hpp"

#include <fmt/format.h>

#include <vector>

#include "engine/registry.hpp"
#include "gpu/device_names.hpp"

namespace hemstitch {

ResilientEngine::ResilientEngine(std::string_view requested, std::string_view device, const Workload& work)
    : backend_(&BackendRegistry::instance().choose(requested, device, work, &choice_reason_)),
      fallback_backend_(BackendRegistry::instance().fallback_for(*backend_, requested)) {
  try {
    engine_ = backend_->make_engine(wanted_device(device));
  } catch (const Error& error) {
    if (status_family(error.status()) != StatusFamily::kDevice || !has_fallback() ||
        !BackendRegistry::instance().leaves_choice(requested))
      throw;
    choice_reason_ = fmt::format("{} does not start: {}", backend_->name(), error.what());
    backend_ = &fallback_backend_;
    engine_ = backend_->make_engine({});
  }
}

void ResilientEngine::require_support(const FrameFormat& format, Direction direction) const {
  if (!supports(format, direction))
    throw Error(Status::kInvalidOption,
                fmt::format("backend '{}' does not {} {}", backend_->name(),
                            direction == Direction::kCompress ? "compress to" : "restore", format.title()));
}

BlockEngine& ResilientEngine::fallback_engine() {
  const std::scoped_lock lock(mutex_);
  if (!fallback_engine_) fallback_engine_ = fallback_backend_.make_engine({});
  return *fallback_engine_;
}

void ResilientEngine::count_fallback(std::uint64_t blocks, const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  if (fallback_blocks_ == 0) fallback_reason_ = reason;
  fallback_blocks_ += blocks;
}

void ResilientEngine::compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) {
  // An engine that fails may have moved the outputs of a part of the batch by then: whoever redoes it has the rooms as they were.
  std::vector<std::span<std::byte>> rooms;
  if (parameters.movable_outputs && has_fallback())
    for (const BlockTask& task : tasks) rooms.push_back(task.output);
  try {
    engine_->compress(tasks, parameters);
  } catch (const Error& error) {
    if (status_family(error.status()) != StatusFamily::kDevice || !has_fallback()) throw;
    for (std::size_t i = 0; i < rooms.size(); ++i) tasks[i].output = rooms[i];
    fallback_engine().compress(tasks, parameters);
    count_fallback(tasks.size(), error.what());
    return;
  }
  for (BlockTask& task : tasks) {
    // "does not shrink" is an answer, not a failure
    if (task.status == Status::kOk || task.status == Status::kOutputTooSmall) continue;
    if (!has_fallback()) throw Error(task.status, "a block could not be compressed");
    const std::string reason = status_text(task.status);
    fallback_engine().compress(std::span(&task, 1), parameters);
    count_fallback(1, reason);
  }
}

void ResilientEngine::restore(std::span<BlockTask> tasks, Format format) {
  try {
    engine_->restore(tasks, format);
  } catch (const Error& error) {
    if (status_family(error.status()) != StatusFamily::kDevice || !has_fallback()) throw;
    fallback_engine().restore(tasks, format);
    count_fallback(tasks.size(), error.what());
    return;
  }
  if (!has_fallback()) return;
  for (BlockTask& task : tasks) {
    if (task.status == Status::kOk) continue;
    // Damaged data or a failing device? The other engine's answer stands; only a block that it restores was
    // the device's fault.
    const std::string reason = status_text(task.status);
    fallback_engine().restore(std::span(&task, 1), format);
    if (task.status == Status::kOk) count_fallback(1, reason);
  }
}

void ResilientEngine::report(EngineReport& report) const {
  const std::scoped_lock lock(mutex_);
  report.backend = backend_->name();
  report.choice_reason = choice_reason_;
  report.fallback_blocks = fallback_blocks_;
  report.fallback_reason = fallback_reason_;
  if (fallback_blocks_ > 0) report.fallback_backend = fallback_backend_.name();
}

}  // namespace hemstitch
