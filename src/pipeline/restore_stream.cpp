#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

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

struct BlockAt {
  std::uint64_t data_at = 0;
  std::uint32_t size_word = 0;
};

// What a block of the frame restores to, found by walking its tokens; nothing where that cannot be.
std::optional<std::uint64_t> restored_bytes_at(Source& source, const BlockAt& block,
                                               const Lz4FrameHeader& header) {
  const std::size_t data_bytes = block.size_word & ~kStoredBlockBit;
  if (data_bytes > header.block_bytes) return std::nullopt;
  if (block.size_word & kStoredBlockBit) return data_bytes;
  if (!source.seek(block.data_at)) return std::nullopt;
  std::vector<std::byte> data(data_bytes);
  data.resize(source.read(data));
  const auto bytes = lz4_block_restored_bytes(data);
  return bytes && *bytes <= header.block_bytes ? bytes : std::nullopt;
}

// If every block of the frame that begins here, but the last two, restores to the full block size: the last one's
// size. Then a block's place in the content follows from its number, and blocks before a range need not even be read.
// Each block restores to at most the block size, so this holds exactly if the full blocks and the last two, found by
// walking their tokens, add up to the content size that the header announces. (The last two, since the last may be
// the content's last byte alone: format/lz4/lz4_frame_layout.hpp.) Leaves the source where it was.
std::optional<std::uint64_t> last_of_full_blocks(const Lz4FrameHeader& header, std::uint64_t first_block_at,
                                                 Source& source) {
  if (!header.content_bytes || header.linked_blocks || !source.seek(first_block_at)) return std::nullopt;
  const std::size_t checksum_bytes = header.block_checksums ? kBlockChecksumBytes : 0;
  BlockAt last, before_last;
  std::uint64_t blocks = 0, at = first_block_at;
  for (;;) {
    std::array<std::byte, kBlockHeaderBytes> word_bytes;
    if (source.read(word_bytes) < word_bytes.size()) break;
    const std::uint32_t word = load_le32(word_bytes.data());
    if (word == 0) break;
    before_last = std::exchange(last, {at + kBlockHeaderBytes, word});
    blocks++;
    const std::uint64_t payload_bytes = (word & ~kStoredBlockBit) + checksum_bytes;
    at = last.data_at + payload_bytes;
    if (source.skip(payload_bytes) < payload_bytes) break;
  }
  const auto last_bytes = restored_bytes_at(source, last, header);
  const auto before_last_bytes = blocks > 1 ? restored_bytes_at(source, before_last, header) : 0;
  source.seek(first_block_at);
  if (!last_bytes || !before_last_bytes) return std::nullopt;
  const std::uint64_t full_bytes = (std::max<std::uint64_t>(blocks, 2) - 2) * header.block_bytes;
  if (full_bytes + *before_last_bytes + *last_bytes != *header.content_bytes) return std::nullopt;
  return last_bytes;
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

    if (range)
      if (const auto last = last_of_full_blocks(job.frame_header(), job.stream_position(), source))
        job.frame_has_full_blocks(*last);
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
