// The batch interface by format: finds the format and checks pointers; the format does the rest
// (format/batch_format.hpp).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <string>
#include <utility>

#include "batch/batch_checks.hpp"
#include "batch/batch_device.hpp"
#include "core/c_call.hpp"
#include "format/batch_format.hpp"
#include "format/formats.hpp"

namespace hemstitch {
namespace {

const std::vector<std::unique_ptr<BatchFormat>>& batch_formats() {
  static const auto formats = [] {
    std::vector<std::unique_ptr<BatchFormat>> all;
#define ADD(name, cuda, webgpu) \
  HEMSTITCH_IF_##cuda(for (auto& format : make_##name##_batch_formats()) all.push_back(std::move(format));)
    HEMSTITCH_KNOWN_FORMATS(ADD)
#undef ADD
    return all;
  }();
  return formats;
}

// The format of that number among those that the call takes. Throws kInvalidOption, with these, for any other.
template <class Takes>
const BatchFormat& batch_format(const hemstitch_format& given, const Takes& takes) {
  const int number = number_of(given);
  std::vector<std::string> names;
  for (const auto& format : batch_formats()) {
    if (!takes(*format)) continue;
    const int id = static_cast<int>(format->id());
    if (id == number) return *format;
    names.push_back(fmt::format("{} ({})", FormatTable::instance().of(format->id()).title(), id));
  }
  throw Error(Status::kInvalidOption,
              fmt::format("batch: format is {}, it can be {}", number, fmt::join(names, ", ")));
}

const BatchFormat& batch_format(const hemstitch_format& given) {
  return batch_format(given, [](const BatchFormat&) { return true; });
}

Format long_stream_format(const hemstitch_format& given) {
  return batch_format(given, [](const BatchFormat& format) { return format.restores_long_streams(); }).id();
}

}  // namespace
}  // namespace hemstitch

using hemstitch::batch_format;
using hemstitch::guarded;
using hemstitch::need_for;
using hemstitch::needed;

extern "C" {

size_t hemstitch_blocks_compress_bound(hemstitch_format format, size_t block_bytes) {
  size_t bound = std::numeric_limits<size_t>::max();
  guarded([&] { bound = batch_format(format).compress_bound(block_bytes); });
  return bound;
}

hemstitch_status hemstitch_blocks_compress_temp_bytes(hemstitch_format format, const hemstitch_blocks* blocks,
                                                      int level, size_t* temp_bytes) {
  return guarded([&] {
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = batch_format(format).compress_temp_bytes(*needed(blocks, "blocks"), level);
  });
}

hemstitch_status hemstitch_blocks_compress_async(hemstitch_format format, const hemstitch_blocks* blocks,
                                                 int level, void* const* outputs, const size_t* capacities,
                                                 size_t* output_bytes, hemstitch_status* statuses, void* temp,
                                                 size_t temp_bytes, hemstitch_stream stream) {
  return guarded([&] {
    const hemstitch_blocks& given = *needed(blocks, "blocks");
    need_for(given.count, given.blocks, "blocks");
    need_for(given.count, given.block_bytes, "block_bytes");
    need_for(given.count, outputs, "outputs");
    need_for(given.count, output_bytes, "output_bytes");
    need_for(given.count, statuses, "statuses");
    batch_format(format).compress_async(given, level, {outputs, capacities, output_bytes, statuses},
                                        {temp, temp_bytes}, stream);
  });
}

hemstitch_status hemstitch_blocks_restore_temp_bytes(hemstitch_format format,
                                                     const hemstitch_compressed_blocks* compressed,
                                                     size_t max_output_bytes, size_t* temp_bytes) {
  return guarded([&] {
    needed(temp_bytes, "temp_bytes");
    *temp_bytes =
        batch_format(format).restore_temp_bytes(*needed(compressed, "compressed"), max_output_bytes);
  });
}

hemstitch_status hemstitch_blocks_restore_async(hemstitch_format format,
                                                const hemstitch_compressed_blocks* compressed,
                                                void* const* outputs, const size_t* capacities,
                                                size_t max_output_bytes, const uint32_t* history_bytes,
                                                size_t* output_bytes, hemstitch_status* statuses, void* temp,
                                                size_t temp_bytes, hemstitch_stream stream) {
  return guarded([&] {
    const hemstitch_compressed_blocks& given = *needed(compressed, "compressed");
    need_for(given.count, given.blocks, "blocks");
    need_for(given.count, given.block_bytes, "block_bytes");
    need_for(given.count, capacities, "capacities");
    need_for(given.count, output_bytes, "output_bytes");
    need_for(given.count, statuses, "statuses");
    batch_format(format).restore_async(given, {outputs, capacities, output_bytes, statuses}, max_output_bytes,
                                       history_bytes, {temp, temp_bytes}, stream);
  });
}

hemstitch_status hemstitch_checksums_async(hemstitch_format format, const void* const* spans,
                                           const size_t* span_bytes, uint64_t count, uint32_t* checksums,
                                           hemstitch_stream stream) {
  return guarded([&] {
    need_for(count, spans, "spans");
    need_for(count, span_bytes, "span_bytes");
    need_for(count, checksums, "checksums");
    batch_format(format).checksums_async(spans, span_bytes, count, checksums, stream);
  });
}

hemstitch_status hemstitch_long_stream_temp_bytes(hemstitch_format format, uint64_t stream_bytes,
                                                  uint64_t capacity, size_t* temp_bytes) {
  return guarded([&] {
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::batch_long_stream_temp_bytes(hemstitch::long_stream_format(format), stream_bytes,
                                                          capacity);
  });
}

hemstitch_status hemstitch_long_stream_restore(hemstitch_format format, const void* data,
                                               uint64_t stream_bytes, void* output, uint64_t capacity,
                                               uint64_t* output_bytes, void* temp, size_t temp_bytes,
                                               hemstitch_stream stream) {
  return guarded([&] {
    *needed(output_bytes, "output_bytes") = 0;
    const hemstitch::Format known = hemstitch::long_stream_format(format);
    need_for(stream_bytes, data, "data");
    need_for(capacity, output, "output");
    hemstitch::refuse_device_overlap(data, stream_bytes, output, capacity);
    const hemstitch::Status status = hemstitch::batch_long_stream_restore(
        known, static_cast<const std::byte*>(data), stream_bytes, static_cast<std::byte*>(output), capacity,
        *output_bytes, {temp, temp_bytes}, stream);
    if (status != hemstitch::Status::kOk)
      throw hemstitch::Error(status, fmt::format("the stream's first {} bytes are restored", *output_bytes));
  });
}

}  // extern "C"
