#include "pipeline/compress_job.hpp"
#include "pipeline/large_pieces.hpp"
#include "pipeline/ring.hpp"

namespace hemstitch {

StreamReport compress_stream(Source& source, Sink& sink, const CompressOptions& options,
                             const StreamHooks& hooks, const StreamPlaces& places) {
  CompressJob job(options, places, DeviceTime::kBeside);

  job.begin(sink);
  bool ended = false, changes_over = false;
  const auto fill = [&](CompressSlot& slot) {
    throw_if_cancelled(hooks);
    changes_over = !ended && job.device_is_ready();
    if (changes_over) return false;
    while (!ended && !job.full(slot)) {
      const auto room = job.room(slot);
      const std::size_t bytes = [&] {
        const StageTimer timer(job.time_line(), Stage::kRead, slot.number);
        return read_piece(source, room, job.threads());
      }();
      job.filled(slot, bytes);
      ended = bytes < room.size();
    }
    return job.seal(slot);
  };
  const auto emit = [&](CompressSlot& slot) {
    job.emit(slot, sink);
    if (hooks.progress) hooks.progress(job.emitted_input_bytes(), job.emitted_output_bytes());
  };
  const auto run = [&] {
    std::vector<CompressSlot> slots(job.plan().batches_in_flight);
    run_ring(
        job.threads(), slots, false, fill, [&](CompressSlot& slot) { job.work(slot); }, emit);
  };
  run();
  while (changes_over) {
    job.take_device();
    run();
  }
  job.end(sink);
  return job.report();
}

}  // namespace hemstitch
