// The batch functions of one long stream; format/deflate/stream/deflate_stream_in_memory_cuda.hpp restores it.
#include "batch/deflate_batch_device.hpp"
#include "format/deflate/stream/deflate_stream_in_memory_cuda.hpp"

namespace hemstitch {

std::size_t deflate_stream_temp_bytes(std::uint64_t stream_bytes, std::uint64_t capacity) {
  return cuda::deflate_stream_temp_bytes(stream_bytes, capacity);
}

Status deflate_stream_restore(const std::byte* d_data, std::uint64_t stream_bytes, Format format,
                              std::byte* d_output, std::uint64_t capacity, std::uint64_t& output_bytes,
                              BatchTemp temp, hemstitch_stream stream) {
  const cuda::StreamInMemory work{
      .d_data = d_data, .bytes = stream_bytes, .output = {d_output, static_cast<std::size_t>(capacity)}};
  const cuda::StreamOutcome outcome =
      cuda::restore_deflate_stream(format, work, temp.d_temp, temp.bytes, stream);
  output_bytes = outcome.content_bytes;
  return outcome.status;
}

}  // namespace hemstitch
