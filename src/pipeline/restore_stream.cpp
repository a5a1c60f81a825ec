#include <fmt/format.h>

#include <utility>

#include "format/frame_index.hpp"
#include "pipeline/restore_job.hpp"
#include "pipeline/ring.hpp"

namespace hemstitch {
namespace {

// Fewer bytes than this are read block by block.
constexpr std::size_t kLeastAheadBytes = std::size_t{1} << 20;
constexpr std::size_t kCopiedBytes = std::size_t{256} << 10;

// Reads what the job wants next and passes it on; skips what the job skips. The caller's arena has `threads`
// threads.
RestoreJob::Event advance(RestoreJob& job, RestoreSlot& slot, Source& source, unsigned threads = 1) {
  const auto room = job.room(slot);
  const std::size_t bytes = read_piece(source, room, threads);
  const auto event = job.received(slot, bytes, bytes < room.size());
  if (event == RestoreJob::Event::kSkip) job.skipped(source.skip(job.skip_bytes()));
  return event;
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

StreamReport restore(Source& source, Sink& sink, const RestoreOptions& options, const StreamHooks& hooks,
                     const StreamPlaces& places, std::optional<ContentRange> range) {
  using Event = RestoreJob::Event;
  RestoreJob job(options, range, places, source.total_bytes(), DeviceTime::kBeside);
  if (hooks.index != nullptr) job.make_index(*hooks.index);
  if (!hooks.stays_on_thread) job.borrow_content();
  std::vector<RestoreSlot> slots(1);
  struct Settling {
    RestoreJob& job;
    ~Settling() { job.settle(); }
  } const settling{job};
  std::uint64_t batches = 0;   // how many were read
  bool begins_stream = false;  // in the place of blocks
  for (Event event = Event::kMore; event != Event::kEnd;) {
    throw_if_cancelled(hooks);
    if (!std::exchange(begins_stream, false)) event = advance(job, slots[0], source);
    if (event != Event::kFrameBegin) continue;

    if (range)
      if (const auto last = last_of_full_blocks(job.frame_stream(), source)) job.frame_has_full_blocks(*last);
    if (!job.keeps_slots()) slots.clear();
    bool reads_ahead = false, changes_over = false;
    unsigned ring_threads = 1;
    const auto fill = [&](RestoreSlot& slot) {
      try {
        const auto ended = [&] { return event == Event::kFrameEnd || event == Event::kEnd; };
        changes_over = !ended() && !job.leaves_blocks() && job.device_is_ready();
        if (ended() || changes_over || job.leaves_blocks()) return false;
        // Made when first needed: memory that a device writes takes time to make, and other threads work
        // meanwhile.
        if (slot.input.get() == nullptr) slot = job.make_slot();
        const StageTimer timer(job.time_line(), Stage::kRead, ++batches);
        while (!ended() && !job.full(slot)) {
          throw_if_cancelled(hooks);
          if (const std::size_t ahead = reads_ahead ? job.bytes_ahead(slot, source) : 0;
              ahead >= kLeastAheadBytes)
            event = job.received_ahead(
                slot,
                read_piece(source, std::span(slot.input.get() + slot.input_bytes, ahead), job.threads()),
                source);
          else
            event = advance(job, slot, source, ring_threads);
        }
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
      run_ring(
          ring_threads, slots, job.works_in_order(), fill, [&](RestoreSlot& slot) { job.work(slot); }, emit);
    };
    run();
    while (changes_over && !job.leaves_blocks()) {
      slots.clear();
      job.take_device();
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

}  // namespace

StreamReport restore_stream(Source& source, Sink& sink, const RestoreOptions& options,
                            const StreamHooks& hooks, const StreamPlaces& places) {
  return restore(source, sink, options, hooks, places, std::nullopt);
}

FrameIndex index_stream(Source& source, std::optional<Format> known) {
  std::optional<ResilientEngine> engine;
  const auto make_decoder = [&](const FrameFormat& format) {
    if (!engine)
      engine.emplace("auto", "", Workload{.direction = Direction::kRestore, .format = format.id()});
    return engine->make_stream_decoder(format, {});
  };
  return index_frames(source, make_decoder, known ? &FormatTable::instance().of(*known) : nullptr);
}

StreamReport restore_range(Source& source, Sink& sink, std::uint64_t range_begin, std::uint64_t range_end,
                           const RestoreOptions& options, const StreamHooks& hooks) {
  if (range_begin > range_end)
    throw Error(Status::kInvalidOption,
                fmt::format("range is {}-{}, its end lies before its beginning", range_begin, range_end));
  return restore(source, sink, options, hooks, {}, ContentRange{range_begin, range_end});
}

}  // namespace hemstitch
