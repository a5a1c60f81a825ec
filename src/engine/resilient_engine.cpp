#include "engine/resilient_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "core/batch_timer.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"
#include "gpu/device_names.hpp"

namespace hemstitch {
namespace {

// For a stream of unknown size: after so many bytes it is checked whether a device would pay off for as many
// bytes again, then each time that a quarter more has come.
constexpr std::uint64_t kFirstQuestionBytes = 1 << 20, kQuestionStep = 4;

// If a caller may cancel, so much at once: at the slowest levels a thread does it in a tenth of a second.
constexpr std::size_t kUncancelledBytes = 256 << 10;

constexpr std::string_view kSomeDevice = "a device", kProcessor = "cpu";

constexpr std::string_view kWrongBlock = "a block did not restore to its content";

// Whether verify() found the block wrong; no engine sets this status when it compresses.
bool is_wrong(const BlockTask& task) { return task.status == Status::kCorruptBlock; }

// Restores what `engine` made of the tasks into `room`, and compares.
void verify(BlockEngine& engine, std::span<BlockTask> tasks, Format format, std::span<std::byte> room) {
  std::vector<BlockTask*> made;
  std::vector<BlockTask> restored;
  const std::span<const std::byte> end = FormatTable::instance().of(format).end_of_stream();
  std::size_t streams_bytes = 0;
  if (!end.empty())
    for (const BlockTask& task : tasks) streams_bytes += task.output_bytes + end.size();
  std::vector<std::byte> streams(streams_bytes);
  std::span<std::byte> streams_left = streams;
  for (BlockTask& task : tasks) {
    if (task.status != Status::kOk) continue;
    made.push_back(&task);
    BlockTask& back = restored.emplace_back();
    back.input = task.output.first(task.output_bytes);
    if (!streams.empty()) {
      std::ranges::copy(end, std::ranges::copy(back.input, streams_left.begin()).out);
      back.input = streams_left.first(back.input.size() + end.size());
      streams_left = streams_left.subspan(back.input.size());
    }
    back.history = task.history;
    back.dictionary = task.dictionary;
    back.output = room.first(task.input.size());
    room = room.subspan(task.input.size());
  }
  if (restored.empty()) return;
  engine.restore(restored, format);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const BlockTask& back = restored[i];
    const std::span<const std::byte> raw = made[i]->input;
    if (back.status != Status::kOk || back.output_bytes != raw.size() ||
        std::memcmp(back.output.data(), raw.data(), raw.size()) != 0)
      made[i]->status = Status::kCorruptBlock;
  }
}

}  // namespace

ResilientEngine::ResilientEngine(std::string_view requested, std::string_view device, const Workload& work,
                                 DeviceTime time, BetweenPieces between_pieces)
    : requested_(requested),
      device_(device),
      work_(work),
      between_pieces_(std::move(between_pieces)),
      time_line_(std::make_unique<TimeLine>(TimeLine::Clock::now())) {
  const BackendRegistry& registry = BackendRegistry::instance();
  if (time == DeviceTime::kBeside && registry.leaves_choice(requested)) {
    // Until the device has started, the choice is made as for an unknown size.
    Workload unknown = work;
    unknown.content_bytes.reset(), unknown.compressed_bytes.reset();
    if (!registry.choice_at_hand(requested, device, work)) {
      backend_ = &registry.choose(requested, device, unknown);
      start_device();
    } else if (!work.content_bytes && !work.compressed_bytes) {
      next_question_ = kFirstQuestionBytes;
    }
  }
  if (backend_ == nullptr) backend_ = &registry.choose(requested, device, work, &choice_reason_);
  try {
    engine_ = backend_->make_engine(wanted_device(device));
  } catch (const Error& error) {
    if (!is_device_failure(error) || !registry.leaves_choice(requested)) throw;
    const Backend& other = registry.fallback_for(*backend_, requested, work);
    if (&other == backend_) throw;
    const std::string_view name = std::exchange(backend_, &other)->name();
    engine_ = backend_->make_engine({});
    not_started(name, std::current_exception());
  }
  engine_keeps_time_ = engine_->keep_time(*time_line_);
  time_line_->add({Stage::kStart, 0, 0, time_line_->now()});
}

void ResilientEngine::start_device() {
  next_question_.reset();
  try {
    start_.emplace(requested_, device_, work_, *backend_);
  } catch (const std::system_error&) {
    not_started(kSomeDevice, std::current_exception());
  }
}

void ResilientEngine::not_started(std::string_view backend, const std::exception_ptr& failure) {
  std::string text;
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    text = fmt::format("{} does not start: {}", backend, error.what());
  }
  const std::scoped_lock lock(mutex_);
  choice_reason_ = text;
  fallback_reason_ = std::move(text);
  fallback_backend_ = backend_->name();
  in_place_of_device_ = true;
}

void ResilientEngine::progressed(std::uint64_t input_bytes) {
  if (!next_question_ || input_bytes < *next_question_) return;
  next_question_ = input_bytes + input_bytes / kQuestionStep;
  (work_.direction == Direction::kCompress ? work_.content_bytes : work_.compressed_bytes) = input_bytes;
  if (BackendRegistry::instance().choice_at_hand(requested_, device_, work_) != backend_->name())
    start_device();
}

bool ResilientEngine::device_is_ready() {
  if (!start_ || !start_->is_done()) return false;
  if (start_->has_engine()) return true;
  const StartedDevice started = start_->take();
  start_.reset();
  if (started.failure)
    not_started(started.backend != nullptr ? started.backend->name() : kSomeDevice, started.failure);
  else
    choice_reason_ = started.reason;
  return false;
}

void ResilientEngine::take_device() {
  StartedDevice started = start_->take();
  start_.reset();
  processor_ = std::exchange(backend_, started.backend);
  processor_engine_ = std::exchange(engine_, std::move(started.engine));
  processor_blocks_ = done_blocks_.load();
  choice_reason_ = std::move(started.reason);
  engine_keeps_time_ = engine_->keep_time(*time_line_);
  time_line_->add(
      {Stage::kStart, 0, time_line_->seconds_at(started.begin), time_line_->seconds_at(started.end)});
}

void ResilientEngine::refuse_device(std::string_view reason) {
  choice_reason_ = fmt::format("{} is not used: {}", backend_->name(), reason);
  backend_ = std::exchange(processor_, nullptr);
  engine_ = std::move(processor_engine_);
  engine_keeps_time_ = engine_->keep_time(*time_line_);
}

void ResilientEngine::count_done(std::uint64_t blocks) {
  done_blocks_ += blocks;
  if (in_place_of_device_) count_fallback(blocks);
}

const Backend& ResilientEngine::fallback(Format format, Direction direction) const {
  return BackendRegistry::instance().fallback_for(*backend_, requested_,
                                                  {.direction = direction, .format = format});
}

const Backend& ResilientEngine::fastest_restorer(Format format) const {
  const Backend& cpu = BackendRegistry::instance().find_usable(kProcessor);
  return cpu.supports(format, Direction::kRestore) ? cpu : fallback(format, Direction::kRestore);
}

template <class Work>
void ResilientEngine::timed(std::span<const BlockTask> tasks, const Work& work) {
  if (engine_keeps_time_) return work();
  std::size_t input_bytes = 0;
  for (const BlockTask& task : tasks) input_bytes += task.input.size();
  const BatchTimer timer(*time_line_, Stage::kKernel, time_line_->next_batch(), input_bytes);
  work();
}

void ResilientEngine::require_verifying(const FrameFormat& format) const {
  if (supports(format, Direction::kRestore)) return;
  throw Error(Status::kInvalidOption,
              fmt::format("verify: backend '{}' does not restore {}", backend_->name(), format.title()));
}

bool ResilientEngine::has_fallback(Format format, Direction direction) const {
  return &fallback(format, direction) != backend_;
}

BlockEngine& ResilientEngine::fallback_engine(Format format, Direction direction) {
  return fallback_engine(fallback(format, direction));
}

BlockEngine& ResilientEngine::fallback_engine(const Backend& backend) {
  const std::scoped_lock lock(mutex_);
  if (fallback_engines_.empty()) fallback_backend_ = backend.name();
  std::unique_ptr<BlockEngine>& engine = fallback_engines_[&backend];
  if (!engine) engine = backend.make_engine({});
  return *engine;
}

void ResilientEngine::count_failed_call(const std::string& reason) {
  failures_.count();
  const std::scoped_lock lock(mutex_);
  if (fallback_reason_.empty()) fallback_reason_ = reason;
}

void ResilientEngine::count_fallback(std::uint64_t blocks) {
  const std::scoped_lock lock(mutex_);
  fallback_blocks_ += blocks;
}

void ResilientEngine::count_replaced(std::uint64_t blocks, const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  fallback_blocks_ += blocks;
  if (fallback_reason_.empty()) fallback_reason_ = reason;
}

void ResilientEngine::compress_elsewhere(std::span<BlockTask> tasks, const EncodeParameters& parameters,
                                         std::span<std::byte> verify_room) {
  const Format format = parameters.format;
  const StageTimer timer = host_timer();
  fallback_engine(format, Direction::kCompress).compress(tasks, parameters);
  if (!verify_room.empty()) {
    verify(fallback_engine(format, Direction::kRestore), tasks, format, verify_room);
    if (std::ranges::any_of(tasks, is_wrong))
      throw Error(Status::kInternal, fmt::format("{}, nor when it was redone", kWrongBlock));
  }
  count_fallback(tasks.size());
}

template <class Work>
void ResilientEngine::in_pieces(std::span<BlockTask> tasks, const Work& work) {
  if (!between_pieces_) return work(tasks);
  if (backend_->has_devices()) {
    between_pieces_();
    return work(tasks);
  }
  while (!tasks.empty()) {
    between_pieces_();
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < tasks.size() && bytes < kUncancelledBytes; ++count)
      bytes += std::max(tasks[count].input.size(), tasks[count].output.size());
    work(tasks.first(count));
    tasks = tasks.subspan(count);
  }
}

void ResilientEngine::compress(std::span<BlockTask> tasks, const EncodeParameters& parameters,
                               std::span<std::byte> verify_room) {
  in_pieces(tasks, [&](std::span<BlockTask> piece) { compress_piece(piece, parameters, verify_room); });
}

void ResilientEngine::compress_piece(std::span<BlockTask> tasks, const EncodeParameters& parameters,
                                     std::span<std::byte> verify_room) {
  count_done(tasks.size());
  const bool redo = has_fallback(parameters.format, Direction::kCompress);
  if (redo && failures_.is_dropped()) return compress_elsewhere(tasks, parameters, verify_room);
  // An engine that fails may already have moved the outputs of a part of the batch. So the rooms are
  // remembered for the engine that redoes it.
  std::vector<std::span<std::byte>> rooms;
  if (parameters.movable_outputs && redo)
    for (const BlockTask& task : tasks) rooms.push_back(task.output);
  const auto redo_all = [&] {
    for (std::size_t i = 0; i < rooms.size(); ++i) tasks[i].output = rooms[i];
    compress_elsewhere(tasks, parameters, verify_room);
  };
  try {
    timed(tasks, [&] { engine_->compress(tasks, parameters); });
    if (!verify_room.empty()) {
      BlockEngine& restorer = engine_->verifies_blocks(parameters.format)
                                  ? *engine_
                                  : fallback_engine(fastest_restorer(parameters.format));
      timed(tasks, [&] { verify(restorer, tasks, parameters.format, verify_room); });
    }
  } catch (const Error& error) {
    if (!is_device_failure(error) || !redo) throw;
    count_failed_call(error.what());
    return redo_all();
  }
  // "does not shrink" is an answer, not a failure.
  const auto failed = [](const BlockTask& task) {
    return task.status != Status::kOk && task.status != Status::kOutputTooSmall;
  };
  const auto first = std::ranges::find_if(tasks, failed);
  if (first == tasks.end()) return;
  if (!redo && is_wrong(*first)) throw Error(Status::kInternal, std::string(kWrongBlock));
  if (!redo) throw Error(first->status, "a block could not be compressed");
  count_failed_call(is_wrong(*first) ? std::string(kWrongBlock) : status_text(first->status));
  for (std::size_t i = 0; i < rooms.size(); ++i)
    if (tasks[i].output.data() != rooms[i].data()) return redo_all();
  for (BlockTask& task : tasks)
    if (failed(task)) compress_elsewhere({&task, 1}, parameters, verify_room);
}

void ResilientEngine::restore(std::span<BlockTask> tasks, Format format) {
  in_pieces(tasks, [&](std::span<BlockTask> piece) { restore_piece(piece, format); });
}

void ResilientEngine::restore_piece(std::span<BlockTask> tasks, Format format) {
  count_done(tasks.size());
  // To look for a fallback takes as long as a short block, so it is only done where one is needed.
  const auto redo = [&] { return has_fallback(format, Direction::kRestore); };
  const auto redo_all = [&] {
    const StageTimer timer = host_timer();
    fallback_engine(format, Direction::kRestore).restore(tasks, format);
    count_fallback(tasks.size());
  };
  const auto is_behind_content = [](const BlockTask& task) {
    return !task.history.empty() || !task.dictionary.empty();
  };
  const bool takes_blocks = engine_->restores_blocks(format);
  if (!takes_blocks || (!engine_->verifies_blocks(format) && std::ranges::any_of(tasks, is_behind_content))) {
    const StageTimer timer = host_timer();
    fallback_engine(fastest_restorer(format)).restore(tasks, format);
    const std::string_view title = FormatTable::instance().of(format).title();
    return count_replaced(
        tasks.size(),
        takes_blocks ? fmt::format("backend '{}' restores no {} with a dictionary", backend_->name(), title)
                     : fmt::format("backend '{}' restores long frames of {}, and not block by block",
                                   backend_->name(), title));
  }
  if (failures_.is_dropped() && redo()) return redo_all();
  try {
    timed(tasks, [&] { engine_->restore(tasks, format); });
  } catch (const Error& error) {
    if (!is_device_failure(error) || !redo()) throw;
    count_failed_call(error.what());
    return redo_all();
  }
  const auto is_good = [](const BlockTask& task) { return task.status == Status::kOk; };
  if (std::ranges::all_of(tasks, is_good) || !redo()) return;
  bool failed = false;
  for (BlockTask& task : tasks) {
    if (task.status == Status::kOk) continue;
    // Either the data is damaged or the device fails. The other engine's answer counts: only if it restores
    // the block was the device at fault.
    const std::string reason = status_text(task.status);
    fallback_engine(format, Direction::kRestore).restore(std::span(&task, 1), format);
    if (task.status != Status::kOk) continue;
    if (!std::exchange(failed, true)) count_failed_call(reason);
    count_fallback(1);
  }
}

std::unique_ptr<StreamEncoder> ResilientEngine::make_stream_encoder(const FrameFormat& format,
                                                                    const StreamEncoding& encoding) {
  if (auto encoder = engine_->make_stream_encoder(format.id(), encoding)) return encoder;
  throw Error(Status::kInvalidOption, fmt::format("window_log: backend '{}' has no such option for {}",
                                                  backend_->name(), format.title()));
}

std::unique_ptr<StreamDecoder> ResilientEngine::make_stream_decoder(const FrameFormat& format,
                                                                    const FrameHeader& header,
                                                                    std::span<const std::byte> history,
                                                                    const StreamMeans& means) {
  StreamMeans told = means;
  // Counts as one block, however often it fails.
  told.on_failure = [this, counted = false](const std::string& failure) mutable {
    count_failed_call(failure);
    const std::scoped_lock lock(mutex_);
    if (std::exchange(counted, true)) return;
    ++fallback_blocks_;
    if (fallback_backend_.empty()) fallback_backend_ = kProcessor;
  };
  if (!failures_.is_dropped())
    if (auto decoder = engine_->make_stream_decoder(format.id(), header, history, told)) return decoder;
  const std::string reason =
      fmt::format("backend '{}' cannot restore {} whose blocks have no known boundaries", backend_->name(),
                  format.title());
  const Backend& other = fastest_restorer(format.id());
  auto decoder = &other != backend_
                     ? fallback_engine(other).make_stream_decoder(format.id(), header, history, means)
                     : nullptr;
  if (!decoder) throw Error(Status::kInvalidOption, reason);
  count_replaced(1, reason);
  return decoder;
}

void ResilientEngine::report(EngineReport& report) const {
  report.times = time_line_->report();
  const std::scoped_lock lock(mutex_);
  report.backend = backend_->name();
  report.lost_devices = engine_->lost_devices();
  report.choice_reason = choice_reason_;
  if (start_)
    report.choice_reason = "done before a device started";
  else if (processor_ != nullptr)
    report.choice_reason +=
        fmt::format("; {} blocks by {} until it started", processor_blocks_.load(), processor_->name());
  report.fallback_blocks = fallback_blocks_;
  report.fallback_reason = fallback_reason_;
  if (fallback_blocks_ > 0) report.fallback_backend = fallback_backend_;
  report.dropped = failures_.is_dropped();
}

}  // namespace hemstitch
