#include "engine/resilient_engine.hpp"

#include <fmt/format.h>

#include <vector>

#include "engine/registry.hpp"
#include "gpu/device_names.hpp"

namespace hemstitch {

ResilientEngine::ResilientEngine(std::string_view requested, std::string_view device, const Workload& work)
    : requested_(requested),
      backend_(&BackendRegistry::instance().choose(requested, device, work, &choice_reason_)) {
  const BackendRegistry& registry = BackendRegistry::instance();
  try {
    engine_ = backend_->make_engine(wanted_device(device));
  } catch (const Error& error) {
    if (status_family(error.status()) != StatusFamily::kDevice || !registry.leaves_choice(requested)) throw;
    const Backend& other = registry.fallback_for(*backend_, requested, work);
    if (&other == backend_) throw;
    choice_reason_ = fmt::format("{} does not start: {}", backend_->name(), error.what());
    backend_ = &other;
    engine_ = backend_->make_engine({});
  }
}

const Backend& ResilientEngine::fallback(Format format, Direction direction) const {
  return BackendRegistry::instance().fallback_for(*backend_, requested_,
                                                  {.direction = direction, .format = format});
}

bool ResilientEngine::has_fallback(Format format, Direction direction) const {
  return &fallback(format, direction) != backend_;
}

BlockEngine& ResilientEngine::fallback_engine(Format format, Direction direction) {
  const Backend& backend = fallback(format, direction);
  const std::scoped_lock lock(mutex_);
  if (fallback_engines_.empty()) fallback_backend_ = backend.name();
  std::unique_ptr<BlockEngine>& engine = fallback_engines_[&backend];
  if (!engine) engine = backend.make_engine({});
  return *engine;
}

void ResilientEngine::count_fallback(std::uint64_t blocks, const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  if (fallback_blocks_ == 0) fallback_reason_ = reason;
  fallback_blocks_ += blocks;
}

void ResilientEngine::compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) {
  // An engine that fails may have moved the outputs of a part of the batch by then: whoever redoes it has the rooms as they were.
  std::vector<std::span<std::byte>> rooms;
  const Format format = parameters.format;
  const bool redo = has_fallback(format, Direction::kCompress);
  if (parameters.movable_outputs && redo)
    for (const BlockTask& task : tasks) rooms.push_back(task.output);
  try {
    engine_->compress(tasks, parameters);
  } catch (const Error& error) {
    if (status_family(error.status()) != StatusFamily::kDevice || !redo) throw;
    for (std::size_t i = 0; i < rooms.size(); ++i) tasks[i].output = rooms[i];
    fallback_engine(format, Direction::kCompress).compress(tasks, parameters);
    count_fallback(tasks.size(), error.what());
    return;
  }
  for (BlockTask& task : tasks) {
    // "does not shrink" is an answer, not a failure
    if (task.status == Status::kOk || task.status == Status::kOutputTooSmall) continue;
    if (!redo) throw Error(task.status, "a block could not be compressed");
    const std::string reason = status_text(task.status);
    fallback_engine(format, Direction::kCompress).compress(std::span(&task, 1), parameters);
    count_fallback(1, reason);
  }
}

void ResilientEngine::restore(std::span<BlockTask> tasks, Format format) {
  const auto redo = [&] { return has_fallback(format, Direction::kRestore); };
  try {
    engine_->restore(tasks, format);
  } catch (const Error& error) {
    if (status_family(error.status()) != StatusFamily::kDevice || !redo()) throw;
    fallback_engine(format, Direction::kRestore).restore(tasks, format);
    count_fallback(tasks.size(), error.what());
    return;
  }
  for (BlockTask& task : tasks) {
    if (task.status == Status::kOk) continue;
    if (!redo()) return;
    // Damaged data or a failing device? The other engine's answer stands; only a block that it restores was
    // the device's fault.
    const std::string reason = status_text(task.status);
    fallback_engine(format, Direction::kRestore).restore(std::span(&task, 1), format);
    if (task.status == Status::kOk) count_fallback(1, reason);
  }
}

std::unique_ptr<StreamDecoder> ResilientEngine::make_stream_decoder(const FrameFormat& format,
                                                                    std::span<const std::byte> history) {
  if (auto decoder = engine_->make_stream_decoder(format.id(), history)) return decoder;
  const std::string reason = fmt::format("backend '{}' restores no {} whose blocks cannot be told apart",
                                         backend_->name(), format.title());
  auto decoder =
      has_fallback(format.id(), Direction::kRestore)
          ? fallback_engine(format.id(), Direction::kRestore).make_stream_decoder(format.id(), history)
          : nullptr;
  if (!decoder) throw Error(Status::kInvalidOption, reason);
  count_fallback(1, reason);
  return decoder;
}

void ResilientEngine::report(EngineReport& report) const {
  const std::scoped_lock lock(mutex_);
  report.backend = backend_->name();
  report.choice_reason = choice_reason_;
  report.fallback_blocks = fallback_blocks_;
  report.fallback_reason = fallback_reason_;
  if (fallback_blocks_ > 0) report.fallback_backend = fallback_backend_;
}

}  // namespace hemstitch
