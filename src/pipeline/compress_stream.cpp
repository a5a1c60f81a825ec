#include <algorithm>

#include "pipeline/compress_job.hpp"
#include "pipeline/large_pieces.hpp"
#include "pipeline/ring.hpp"

namespace hemstitch {

StreamReport compress_stream(Source& source, Sink& sink, const CompressOptions& options,
                             const StreamHooks& hooks, const StreamPlaces& places) {
  CompressJob job(options, places, DeviceTime::kBeside);

  bool begun = false, ended = false, changes_over = false;
  const auto fill = [&](CompressSlot& slot) {
    throw_if_cancelled(hooks);
    changes_over = !ended && job.device_is_ready();
    if (changes_over) return false;
    while (!ended && !job.full(slot)) {
      const auto whole_room = job.room(slot);
      const auto room = whole_room.first(
          static_cast<std::size_t>(std::min<std::uint64_t>(whole_room.size(), job.most_bytes_to_come())));
      const std::size_t bytes = [&] {
        const StageTimer timer(job.time_line(), Stage::kRead, slot.number);
        return read_piece(source, room, job.threads());
      }();
      job.filled(slot, bytes);
      ended = bytes < room.size() || job.most_bytes_to_come() == 0;
    }
    // Only now is the header written, since the source may have ended earlier than expected.
    if (!begun) {
      if (ended) job.correct_content_bytes(sink);
      job.begin(sink);
      begun = true;
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
  const auto write_frame = [&] {
    run();
    while (changes_over) {
      job.take_device();
      run();
    }
    job.correct_content_bytes(sink);
    job.end(sink);
  };
  write_frame();
  // If the header states the size, the frame ended there, and more may have come meanwhile.
  std::byte next;
  if (job.most_bytes_to_come() == 0 && source.read({&next, 1}) == 1) {
    job.begin_another(next, sink);
    ended = false;
    write_frame();
  }
  return job.report();
}

}  // namespace hemstitch
