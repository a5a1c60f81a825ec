#include <fmt/format.h>

#include <array>

#include "core/bytes.hpp"
#include "format/lz4/lz4_block_size.hpp"
#include "pipeline/restore_job.hpp"
#include "pipeline/ring.hpp"

namespace hemstitch {
namespace {

// Reads what the job wants next and tells it; passes over what it skips.
RestoreJob::Event advance(RestoreJob& job, RestoreSlot& slot, Source& source) {
  const auto room = job.room(slot);
  const std::size_t bytes = source.read(room);
  const auto event = job.received(slot, bytes, bytes < room.size());
  if (event == RestoreJob::Event::kSkip) job.skipped(source.skip(job.skip_bytes()));
  return event;
}

// True if every block of the frame that begins here, but the last, restores to the full block size: then a
// block's place in the content follows from its number, and blocks before a range need not even be read. Each
// block restores to at most the block size, so this holds exactly if the full blocks and the last one's size,
// found by walking its tokens, add up to the content size that the header announces. Leaves the source where
// it was.
bool has_only_full_blocks(const Lz4FrameHeader& header, std::uint64_t first_block_at, Source& source) {
  if (!header.content_bytes || header.linked_blocks || !source.seek(first_block_at)) return false;
  const std::size_t checksum_bytes = header.block_checksums ? kBlockChecksumBytes : 0;
  std::uint64_t blocks = 0, at = first_block_at, last_at = 0;
  std::uint32_t last_word = 0;
  for (;;) {
    std::array<std::byte, kBlockHeaderBytes> word_bytes;
    if (source.read(word_bytes) < word_bytes.size()) break;
    const std::uint32_t word = load_le32(word_bytes.data());
    if (word == 0) break;
    const std::uint64_t payload_bytes = (word & ~kStoredBlockBit) + checksum_bytes;
    last_at = at + kBlockHeaderBytes;
    last_word = word;
    blocks++;
    at = last_at + payload_bytes;
    if (source.skip(payload_bytes) < payload_bytes) break;
  }
  bool full = false;
  const std::size_t last_bytes = last_word & ~kStoredBlockBit;
  if (blocks > 0 && last_bytes <= header.block_bytes && source.seek(last_at)) {
    std::vector<std::byte> last(last_bytes);
    last.resize(source.read(last));
    const auto last_restored = last_word & kStoredBlockBit ? std::optional<std::uint64_t>(last_bytes)
                                                           : lz4_block_restored_bytes(last);
    full = last_restored && (blocks - 1) * header.block_bytes + *last_restored == *header.content_bytes;
  }
  source.seek(first_block_at);
  return full;
}

StreamReport restore(Source& source, Sink& sink, const RestoreOptions& options, const StreamHooks& hooks,
                     std::optional<ContentRange> range) {
  using Event = RestoreJob::Event;
  RestoreJob job(options, range);
  std::vector<RestoreSlot> slots(1);
  for (Event event = Event::kMore; event != Event::kEnd;) {
    throw_if_cancelled(hooks);
    event = advance(job, slots[0], source);
    if (event != Event::kFrameBegin) continue;

    if (range && has_only_full_blocks(job.frame_header(), job.stream_position(), source))
      job.frame_has_only_full_blocks();
    slots.clear();
    for (unsigned i = 0; i < job.plan().batches_in_flight; i++) slots.push_back(job.make_slot());
    const auto fill = [&](RestoreSlot& slot) {
      try {
        while (event != Event::kFrameEnd && event != Event::kEnd && !job.full(slot)) {
          throw_if_cancelled(hooks);
          event = advance(job, slot, source);
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
    run_ring(
        job.threads(), slots, job.works_in_order(), fill, [&](RestoreSlot& slot) { job.work(slot); }, emit);
    job.end_frame();
  }
  job.require_range_inside_content();
  return job.report();
}

}  // namespace

StreamReport restore_stream(Source& source, Sink& sink, const RestoreOptions& options,
                            const StreamHooks& hooks) {
  return restore(source, sink, options, hooks, std::nullopt);
}

StreamReport restore_range(Source& source, Sink& sink, std::uint64_t range_begin, std::uint64_t range_end,
                           const RestoreOptions& options, const StreamHooks& hooks) {
  if (range_begin > range_end)
    throw Error(Status::kInvalidOption,
                fmt::format("range is {}-{}, its end lies before its beginning", range_begin, range_end));
  return restore(source, sink, options, hooks, ContentRange{range_begin, range_end});
}

}  // namespace hemstitch
