// One long stream in the batch interface on a CUDA device; the format restores it (format/device_format.hpp).
#include "batch/batch_device.hpp"
#include "format/formats_cuda.hpp"
#include "format/stream_in_memory_cuda.hpp"

namespace hemstitch {

std::size_t batch_long_stream_temp_bytes(Format format, std::uint64_t stream_bytes, std::uint64_t capacity) {
  return cuda::device_format(format)->stream_temp_bytes(stream_bytes, capacity);
}

Status batch_long_stream_restore(Format format, const std::byte* d_data, std::uint64_t stream_bytes,
                                 std::byte* d_output, std::uint64_t capacity, std::uint64_t& output_bytes,
                                 BatchTemp temp, hemstitch_stream stream) {
  const cuda::StreamInMemory work{
      .d_data = d_data, .bytes = stream_bytes, .output = {d_output, static_cast<std::size_t>(capacity)}};
  const cuda::StreamOutcome outcome =
      cuda::device_format(format)->restore_stream(work, temp.d_temp, temp.bytes, stream);
  output_bytes = outcome.content_bytes;
  return outcome.status;
}

}  // namespace hemstitch
