// batch.hpp for the package's Python code, which passes device memory as addresses. Each call enqueues its
// work on a stream; its temporary memory is freed as a step of the same stream. hemstitch._device_batch
// documents the calls.
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "hemstitch/batch.hpp"
#include "hemstitch/device_memory.hpp"
#include "module.hpp"
#include "python_buffers.hpp"

namespace hemstitch::python {
namespace {

using Address = std::uintptr_t;

CUstream_st* stream_at(Address stream) { return reinterpret_cast<CUstream_st*>(stream); }

// `count` elements at an address on the device.
template <class T>
std::span<T> array_at(Address address, std::size_t count) {
  return {reinterpret_cast<T*>(address), count};
}

// Surrounds a call: the device is the thread's current one, and the GIL is released.
class Work {
 public:
  Work(int device, Address stream) : device_(device), stream_(stream_at(stream)) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  CUstream_st* stream() const { return stream_; }
  batch::Temp temp(std::size_t bytes) {
    temp_ = make_device_memory(bytes, stream_);
    return {temp_.data(), bytes};
  }

 private:
  nb::gil_scoped_release released_;
  OnDevice device_;
  CUstream_st* stream_;
  DeviceContent temp_;
};

DeviceContent device_memory(std::uint64_t bytes, int device, Address stream) {
  working_place("cuda", 0);  // throws, with the reason, in a child of fork()
  const Work work(device, stream);
  return make_device_memory(bytes, work.stream());
}

int device_at(Address address) {
  const nb::gil_scoped_release released;
  return device_of(reinterpret_cast<const std::byte*>(address));
}

void device_upload(nb::iterable objects, const std::vector<std::uint64_t>& places, Address address,
                   int device) {
  std::vector<Buffer> buffers;
  for (const nb::handle object : nb::iter(objects)) buffers.emplace_back(object);
  std::vector<std::span<const std::byte>> pieces;
  for (const Buffer& buffer : buffers) pieces.push_back(buffer.bytes());
  const Work work(device, 0);
  upload_to_device(pieces, places, reinterpret_cast<std::byte*>(address));
}

nb::bytes device_download(Address address, std::size_t bytes, int device, Address stream) {
  BytesResult result(bytes);
  {
    const Work work(device, stream);
    download_from_device(reinterpret_cast<const std::byte*>(address), result.room(), work.stream());
  }
  return result.take(bytes);
}

void device_copy(Address from, std::uint64_t bytes, Address to, int device, Address stream) {
  const Work work(device, stream);
  copy_on_device(reinterpret_cast<const std::byte*>(from), bytes, reinterpret_cast<std::byte*>(to),
                 work.stream());
}

void device_order(Address before, int device, Address stream) {
  const Work work(device, stream);
  order_after(stream_at(before), work.stream());
}

// Arrays of `count` elements, by their addresses. Statuses have 32 bits, all others 64.
batch::Outputs outputs_at(std::size_t count, Address outputs, Address capacities, Address output_bytes,
                          Address statuses) {
  return {.outputs = array_at<void* const>(outputs, outputs == 0 ? 0 : count),
          .capacities = array_at<const std::size_t>(capacities, count),
          .output_bytes = array_at<std::size_t>(output_bytes, count),
          .statuses = array_at<hemstitch_status>(statuses, count)};
}

Format block_format(const std::string& name) {
  if (const std::optional<Format> format = format_of(name)) return *format;
  throw Error(Status::kInvalidOption, "format is 'auto'; blocks on a device need one");
}

std::size_t blocks_bound(const std::string& format, std::size_t block_bytes) {
  return batch::blocks_compress_bound(block_format(format), block_bytes);
}

void blocks_compress(const std::string& format, std::size_t count, Address blocks, Address block_bytes,
                     std::size_t max_block_bytes, std::uint64_t total_block_bytes, int level, Address outputs,
                     Address capacities, Address output_bytes, Address statuses, int device, Address stream) {
  const Format id = block_format(format);
  Work work(device, stream);
  const batch::Blocks given{.blocks = array_at<const void* const>(blocks, count),
                            .block_bytes = array_at<const std::size_t>(block_bytes, count),
                            .max_block_bytes = max_block_bytes,
                            .total_block_bytes = total_block_bytes};
  batch::blocks_compress(id, given, level, outputs_at(count, outputs, capacities, output_bytes, statuses),
                         work.temp(batch::blocks_compress_temp_bytes(id, given, level)), work.stream());
}

// If `outputs` is 0, only sizes and statuses are computed.
void blocks_restore(const std::string& format, std::size_t count, Address blocks, Address block_bytes,
                    std::size_t max_block_bytes, Address outputs, Address capacities,
                    std::size_t max_output_bytes, Address output_bytes, Address statuses, int device,
                    Address stream) {
  const Format id = block_format(format);
  Work work(device, stream);
  const batch::Compressed given{.blocks = array_at<const void* const>(blocks, count),
                                .block_bytes = array_at<const std::size_t>(block_bytes, count),
                                .max_block_bytes = max_block_bytes};
  batch::blocks_restore(
      id, given, outputs_at(count, outputs, capacities, output_bytes, statuses), max_output_bytes, {},
      work.temp(batch::blocks_restore_temp_bytes(id, given, max_output_bytes)), work.stream());
}

hemstitch_lz4_frame frame_of(std::uint32_t block_bytes) {
  hemstitch_lz4_frame frame{};
  frame.block_bytes = block_bytes;
  frame.block_checksums = 1;
  return frame;
}

std::uint64_t frame_bound(std::uint64_t content_bytes, std::uint32_t block_bytes) {
  return batch::lz4_frame_bound(content_bytes, frame_of(block_bytes));
}

void frame_compress(Address content, std::uint64_t content_bytes, std::uint32_t block_bytes, int level,
                    Address output, std::uint64_t capacity, Address output_bytes, Address status, int device,
                    Address stream) {
  Work work(device, stream);
  const hemstitch_lz4_frame frame = frame_of(block_bytes);
  batch::lz4_frame_compress(
      array_at<const std::byte>(content, content_bytes), frame, level, array_at<std::byte>(output, capacity),
      reinterpret_cast<std::uint64_t*>(output_bytes), reinterpret_cast<hemstitch_status*>(status),
      work.temp(batch::lz4_frame_compress_temp_bytes(content_bytes, frame, level)), work.stream());
}

// `begin` has the first bytes of the frame, in host memory.
void frame_restore(Address data, std::uint64_t bytes, nb::object begin, Address output,
                   std::uint64_t capacity, Address output_bytes, Address status, int device, Address stream) {
  const Buffer header(begin);
  Work work(device, stream);
  const hemstitch_lz4_frame frame = batch::lz4_frame_read_header(header.bytes());
  batch::lz4_frame_restore(
      array_at<const std::byte>(data, bytes), frame, array_at<std::byte>(output, capacity),
      reinterpret_cast<std::uint64_t*>(output_bytes), reinterpret_cast<hemstitch_status*>(status),
      work.temp(batch::lz4_frame_restore_temp_bytes(frame)), work.stream());
}

void unshuffle(std::size_t count, Address sources, Address sizes, Address targets,
               std::uint32_t element_bytes, int device, Address stream) {
  Work work(device, stream);
  batch::unshuffle(array_at<const void* const>(sources, count), array_at<const std::size_t>(sizes, count),
                   array_at<void* const>(targets, count), element_bytes,
                   work.temp(batch::shuffle_temp_bytes(count)), work.stream());
}

void bitunshuffle(std::size_t count, Address sources, Address sizes, Address targets,
                  std::uint32_t element_bytes, std::size_t block_bytes, int device, Address stream) {
  Work work(device, stream);
  batch::bitunshuffle(array_at<const void* const>(sources, count), array_at<const std::size_t>(sizes, count),
                      array_at<void* const>(targets, count), element_bytes, block_bytes,
                      work.temp(batch::bitshuffle_temp_bytes(count)), work.stream());
}

// Copies pieces from `input` to their targets. Sizes have 32 bits; offsets have 64, and must ascend.
void scatter(std::uint64_t count, Address input, Address offsets, Address sizes, Address targets, int device,
             Address stream) {
  Work work(device, stream);
  std::size_t bytes = 0;
  batch::detail::check(hemstitch_scatter_temp_bytes(count, &bytes));
  const batch::Temp temp = work.temp(bytes);
  batch::detail::check(hemstitch_scatter_async(
      reinterpret_cast<const void*>(input), reinterpret_cast<const std::uint64_t*>(offsets),
      reinterpret_cast<const std::uint32_t*>(sizes), count, reinterpret_cast<void* const*>(targets),
      temp.data(), temp.size(), work.stream()));
}

}  // namespace

void add_device_batch(nb::module_& module) {
  using namespace nb::literals;
  module.def("device_memory", device_memory, "bytes"_a, "device"_a, "stream"_a);
  module.def("device_of", device_at, "address"_a);
  module.def("device_upload", device_upload, "objects"_a, "places"_a, "address"_a, "device"_a);
  module.def("device_download", device_download, "address"_a, "bytes"_a, "device"_a, "stream"_a);
  module.def("device_copy", device_copy, "source"_a, "bytes"_a, "target"_a, "device"_a, "stream"_a);
  module.def("device_order", device_order, "before"_a, "device"_a, "stream"_a);
  module.def("device_blocks_bound", blocks_bound, "format"_a, "block_bytes"_a);
  module.def("device_blocks_compress", blocks_compress, "format"_a, "count"_a, "blocks"_a, "block_bytes"_a,
             "max_block_bytes"_a, "total_block_bytes"_a, "level"_a, "outputs"_a, "capacities"_a,
             "output_bytes"_a, "statuses"_a, "device"_a, "stream"_a);
  module.def("device_blocks_restore", blocks_restore, "format"_a, "count"_a, "blocks"_a, "block_bytes"_a,
             "max_block_bytes"_a, "outputs"_a, "capacities"_a, "max_output_bytes"_a, "output_bytes"_a,
             "statuses"_a, "device"_a, "stream"_a);
  module.def("device_frame_bound", frame_bound, "content_bytes"_a, "block_bytes"_a);
  module.def("device_frame_compress", frame_compress, "content"_a, "content_bytes"_a, "block_bytes"_a,
             "level"_a, "output"_a, "capacity"_a, "output_bytes"_a, "status"_a, "device"_a, "stream"_a);
  module.def("device_frame_restore", frame_restore, "data"_a, "bytes"_a, "begin"_a, "output"_a, "capacity"_a,
             "output_bytes"_a, "status"_a, "device"_a, "stream"_a);
  module.def("device_unshuffle", unshuffle, "count"_a, "sources"_a, "sizes"_a, "targets"_a, "element_bytes"_a,
             "device"_a, "stream"_a);
  module.def("device_bitunshuffle", bitunshuffle, "count"_a, "sources"_a, "sizes"_a, "targets"_a,
             "element_bytes"_a, "block_bytes"_a, "device"_a, "stream"_a);
  module.def("device_scatter", scatter, "count"_a, "source"_a, "offsets"_a, "sizes"_a, "targets"_a,
             "device"_a, "stream"_a);
}

}  // namespace hemstitch::python
