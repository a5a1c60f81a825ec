#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/batch_timer.hpp"
#include "format/frame_index.hpp"
#include "pipeline/gathering_sink.hpp"
#include "pipeline/restore_job.hpp"
#include "pipeline/ring.hpp"

namespace hemstitch {
namespace {

// Fewer bytes than this are read block by block.
constexpr std::size_t kLeastAheadBytes = std::size_t{1} << 20;
constexpr std::size_t kCopiedBytes = std::size_t{256} << 10;

// Tells a writer that pauses from one that is merely slower than we are. For the latter, content goes out in
// whole batches, which take less time: only where nothing comes for a moment, or where so much of the time is
// spent waiting that it may as well be spent on small batches.
class PauseWatch {
 public:
  explicit PauseWatch(Source& source) : source_(source) {}

  // Call it before a read. Whether what has come should go out first.
  bool pauses() {
    if (source_.comes_within(std::chrono::milliseconds(0))) return false;
    const auto begin = std::chrono::steady_clock::now();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(kMostWaiting - waited_);
    const bool comes = source_.comes_within(std::clamp(left, std::chrono::milliseconds(0), kPause));
    waited_ += std::chrono::steady_clock::now() - begin;
    if (comes) return false;
    waited_ = {};
    return true;
  }

 private:
  static constexpr std::chrono::milliseconds kPause{10}, kMostWaiting{200};

  Source& source_;
  std::chrono::steady_clock::duration waited_{};  // since the last pause
};

// Reads what the job wants next, or what is there of it, and passes it on. The caller's arena has `threads`
// threads.
RestoreJob::Event read_into(RestoreJob& job, RestoreSlot& slot, std::span<std::byte> room, Source& source,
                            unsigned threads = 1) {
  if (threads > 1 && room.size() >= kLargePieceBytes && source.total_bytes()) {
    const std::size_t bytes = source.read_in_parallel(room);
    return job.received(slot, bytes, bytes < room.size());
  }
  const std::size_t bytes = room.empty() ? 0 : source.read_some(room);
  return job.received(slot, bytes, bytes == 0 && !room.empty());
}

void copy_rest(RestoreJob& job, Source& source, Sink& sink, const StreamHooks& hooks) {
  std::vector<std::byte> buffer(kCopiedBytes);
  for (;;) {
    throw_if_cancelled(hooks);
    std::size_t bytes = job.read_rest(buffer);
    if (bytes == 0) bytes = source.read(buffer);
    if (bytes == 0) return;
    sink.write(std::span(buffer).first(bytes));
    job.rest_written(bytes);
    if (hooks.progress) hooks.progress(job.report().input_bytes, job.emitted_output_bytes());
  }
}

// Skips a frame without content; returns how many bytes there were.
std::uint64_t skip(Source& source, std::uint64_t count, PauseWatch& watch, Sink& sink) {
  if (source.total_bytes()) return source.skip(count);
  std::uint64_t passed = 0;
  std::array<std::byte, 16 << 10> discarded;
  while (passed < count) {
    if (watch.pauses()) sink.flush();
    const std::size_t bytes = source.read_some(std::span(discarded).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(discarded.size(), count - passed))));
    if (bytes == 0) break;
    passed += bytes;
  }
  return passed;
}

StreamReport restore_frames(Source& source, Sink& sink, const RestoreOptions& options,
                            const StreamHooks& hooks, const StreamPlaces& places,
                            std::optional<ContentRange> range) {
  using Event = RestoreJob::Event;
  RestoreJob job(options, range, places, source.total_bytes(), DeviceTime::kBeside);
  if (source.total_bytes() && !hooks.begins_inside && options.dictionary.empty()) job.know_source(source);
  if (hooks.index != nullptr) job.make_index(*hooks.index);
  if (!hooks.stays_on_thread) job.borrow_content();
  std::vector<RestoreSlot> slots(1);
  struct Settling {
    RestoreJob& job;
    ~Settling() { job.settle(); }
  } const settling{job};
  std::uint64_t batches = 0;   // how many were read
  bool begins_stream = false;  // in the place of blocks
  PauseWatch watch(source);
  for (Event event = Event::kMore; event != Event::kEnd;) {
    throw_if_cancelled(hooks);
    if (!std::exchange(begins_stream, false)) {
      const auto next_room = job.room(slots[0]);
      if (!next_room.empty() && watch.pauses()) sink.flush();
      event = read_into(job, slots[0], next_room, source);
      if (event == Event::kSkip) job.skipped(skip(source, job.skip_bytes(), watch, sink));
    }
    if (event != Event::kFrameBegin) continue;

    if (range)
      if (const auto last = last_of_full_blocks(job.frame_stream(), source)) job.frame_has_full_blocks(*last);
    if (!job.keeps_slots()) slots.clear();
    bool reads_ahead = false, changes_over = false, pauses = false;
    unsigned ring_threads = 1;
    const std::size_t usual_batch_bytes = job.usual_batch_bytes();
    const auto fill = [&](RestoreSlot& slot) {
      try {
        const auto ended = [&] { return event == Event::kFrameEnd || event == Event::kEnd; };
        changes_over = !ended() && !job.leaves_blocks() && job.device_is_ready();
        if (ended() || changes_over || job.leaves_blocks()) return false;
        // Made when first needed: memory that a device writes takes time to make, and other threads work
        // meanwhile.
        if (slot.input.get() == nullptr) slot = job.make_slot();
        const BatchTimer timer(job.time_line(), Stage::kRead, ++batches, usual_batch_bytes);
        while (!ended() && !job.full(slot)) {
          throw_if_cancelled(hooks);
          if (const std::size_t ahead = reads_ahead ? job.bytes_ahead(slot, source) : 0;
              ahead >= kLeastAheadBytes) {
            event = job.received_ahead(
                slot,
                read_piece(source, std::span(slot.input.get() + slot.input_bytes, ahead), job.threads()),
                source);
            continue;
          }
          const auto room = job.room(slot);
          if (!room.empty() && !pauses) pauses = watch.pauses();
          if (!room.empty() && pauses) {
            const auto so_far = job.restore_so_far(slot);
            if (!so_far) break;
            event = *so_far;
            continue;
          }
          event = read_into(job, slot, room, source, ring_threads);
          if (event == Event::kSkip) job.skipped(source.skip(job.skip_bytes()));
        }
        if (pauses) job.set_aside(slot);
      } catch (...) {
        slot.error = std::current_exception();
        event = Event::kFrameEnd;
      }
      job.seal(slot);
      return !slot.blocks.empty() || slot.error;
    };
    const auto emit = [&](RestoreSlot& slot) {
      const std::uint64_t input_position = slot.input_position;
      job.emit(slot, sink);
      if (hooks.progress) hooks.progress(input_position, job.emitted_output_bytes());
    };
    const auto run = [&] {
      slots.resize(job.plan().batches_in_flight);
      // If batches are small, there is nothing to divide among threads.
      ring_threads = hooks.stays_on_thread ? 1 : job.threads();
      reads_ahead = ring_threads > 1 && job.batch_bytes() >= kLargePieceBytes;
      const auto work = [&](RestoreSlot& slot) { job.work(slot); };
      // Most small files and frames fit into a slot. There is nothing to hand to other threads.
      bool filled = job.batch_bytes() < kLargePieceBytes;
      if (filled) {
        if (!fill(slots[0])) return;
        if (event == Event::kFrameEnd || event == Event::kEnd) {
          work(slots[0]);
          return emit(slots[0]);
        }
      }
      const auto fill_next = [&](RestoreSlot& slot) { return std::exchange(filled, false) || fill(slot); };
      run_ring(ring_threads, slots, job.works_in_order(), fill_next, work, emit);
    };
    run();
    while ((changes_over || pauses) && !job.leaves_blocks()) {
      if (pauses) {
        sink.flush();
        source.comes_within(std::chrono::milliseconds(-1));
        pauses = false;
      }
      if (changes_over) {
        slots.clear();
        job.take_device();
      }
      run();
    }
    if (job.leaves_blocks()) {
      job.leave_blocks(&source);
      event = Event::kFrameBegin;
      begins_stream = true;
      continue;
    }
    job.end_frame();
  }
  job.require_range_inside_content();
  if (hooks.copies_rest && job.report().trailing_garbage_at) copy_rest(job, source, sink, hooks);
  return job.report();
}

StreamReport restore(Source& source, Sink& sink, const RestoreOptions& options, const StreamHooks& hooks,
                     const StreamPlaces& places, std::optional<ContentRange> range) {
  GatheringSink gathering(sink);
  StreamReport report;
  gathering.pass_on_after([&] { report = restore_frames(source, gathering, options, hooks, places, range); });
  return report;
}

}  // namespace

StreamReport restore_stream(Source& source, Sink& sink, const RestoreOptions& options,
                            const StreamHooks& hooks, const StreamPlaces& places) {
  return restore(source, sink, options, hooks, places, std::nullopt);
}

FrameIndex index_stream(Source& source, std::optional<Format> known, const VisitFrame& visit,
                        const StreamMeans& means) {
  std::optional<ResilientEngine> engine;
  const auto make_decoder = [&](const FrameFormat& format, const FrameHeader& header) {
    if (!engine)
      engine.emplace("auto", "", Workload{.direction = Direction::kRestore, .format = format.id()});
    return engine->make_stream_decoder(format, header, {}, means);
  };
  return index_frames(source, make_decoder, known ? &FormatTable::instance().of(*known) : nullptr, visit);
}

StreamMeans means_of_listing(const RestoreOptions& options) {
  return {.window_bytes = most_window_bytes(options)};
}

std::uint64_t content_bytes_of_stream(Source& source, const RestoreOptions& options) {
  std::uint64_t bytes = 0;
  index_stream(
      source, options.format,
      [&](const IndexedFrame* frame) { bytes = frame == nullptr ? 0 : bytes + frame->content_bytes; },
      means_of_listing(options));
  return bytes;
}

StreamReport restore_range(Source& source, Sink& sink, std::uint64_t range_begin, std::uint64_t range_end,
                           const RestoreOptions& options, const StreamHooks& hooks) {
  if (range_begin > range_end)
    throw Error(Status::kInvalidOption,
                fmt::format("range is {}-{}, its end lies before its beginning", range_begin, range_end));
  return restore(source, sink, options, hooks, {}, ContentRange{range_begin, range_end});
}

}  // namespace hemstitch
