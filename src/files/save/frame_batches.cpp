#include "files/save/frame_batches.hpp"

#include <algorithm>

namespace hemstitch {

std::vector<FrameBatch> plan_frame_batches(const FrameWriter& writer, std::uint64_t content_bytes,
                                           std::uint64_t batch_bytes) {
  const FrameLayout layout = writer.layout(content_bytes);
  std::vector<FrameBatch> batches;
  for (std::uint64_t at = 0; at < layout.body_bytes(); at += batch_bytes) {
    FrameBatch batch{at, std::min(batch_bytes, layout.body_bytes() - at)};
    // One more byte is counted, since the body ends before the last byte.
    const bool cuts_byte = layout.last_byte_apart && writer.layout(batch.bytes + 1).last_byte_apart;
    batch.given_bytes = batch.bytes + (cuts_byte ? 1 : 0);
    batch.cut_bytes =
        write_frame_end(writer, batch.given_bytes, cuts_byte ? std::optional(std::byte{}) : std::nullopt)
            .size();
    batches.push_back(batch);
  }
  return batches;
}

std::vector<std::byte> write_frame_end(const FrameWriter& writer, std::uint64_t content_bytes,
                                       std::optional<std::byte> last_byte) {
  const FrameRoom room = writer.room();
  std::vector<std::byte> end(room.last_byte_bytes + room.end_bytes);
  const std::size_t last_bytes = last_byte ? writer.write_last_byte(*last_byte, end.data()) : 0;
  end.resize(last_bytes + writer.write_end(content_bytes, std::nullopt, end.data() + last_bytes));
  return end;
}

}  // namespace hemstitch
