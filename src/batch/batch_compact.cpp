// Compaction in the batch interface: checks arguments; batch_compact_device.hpp does the rest.
#include "batch/batch_compact_device.hpp"
#include "compact/bitshuffle/bitshuffle.hpp"
#include "core/c_call.hpp"
#include "core/status.hpp"

using hemstitch::guarded;
using hemstitch::need_for;
using hemstitch::needed;

namespace {

void check_shuffling(const void* const* sources, const size_t* sizes, void* const* targets, uint64_t count,
                     uint32_t element_bytes) {
  need_for(count, sources, "sources");
  need_for(count, sizes, "sizes");
  need_for(count, targets, "targets");
  hemstitch::check_element_bytes(element_bytes);
}

void check_bitshuffling(const void* const* sources, const size_t* sizes, void* const* targets, uint64_t count,
                        uint32_t element_bytes, size_t block_bytes) {
  check_shuffling(sources, sizes, targets, count, element_bytes);
  hemstitch::check_bitshuffle_blocks(element_bytes, block_bytes);
}

}  // namespace

extern "C" {

hemstitch_status hemstitch_scan_temp_bytes(uint64_t count, size_t* temp_bytes) {
  return guarded([&] {
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::batch_scan_temp_bytes(count);
  });
}

hemstitch_status hemstitch_scan_async(const uint32_t* sizes, uint64_t count, uint64_t* offsets, void* temp,
                                      size_t temp_bytes, hemstitch_stream stream) {
  return guarded([&] {
    need_for(count, sizes, "sizes");
    needed(offsets, "offsets");
    hemstitch::batch_scan_async(sizes, count, offsets, temp, temp_bytes, stream);
  });
}

hemstitch_status hemstitch_gather_temp_bytes(uint64_t count, size_t* temp_bytes) {
  return guarded([&] {
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::batch_gather_temp_bytes(count);
  });
}

hemstitch_status hemstitch_scatter_temp_bytes(uint64_t count, size_t* temp_bytes) {
  return guarded([&] {
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::batch_scatter_temp_bytes(count);
  });
}

hemstitch_status hemstitch_gather_async(const void* const* sources, const uint32_t* sizes,
                                        const uint64_t* offsets, uint64_t count, void* output, void* temp,
                                        size_t temp_bytes, hemstitch_stream stream) {
  return guarded([&] {
    need_for(count, sources, "sources");
    need_for(count, sizes, "sizes");
    need_for(count, offsets, "offsets");
    hemstitch::batch_gather_async(sources, sizes, offsets, count, output, temp, temp_bytes, stream);
  });
}

hemstitch_status hemstitch_scatter_async(const void* input, const uint64_t* offsets, const uint32_t* sizes,
                                         uint64_t count, void* const* targets, void* temp, size_t temp_bytes,
                                         hemstitch_stream stream) {
  return guarded([&] {
    need_for(count, offsets, "offsets");
    need_for(count, sizes, "sizes");
    need_for(count, targets, "targets");
    hemstitch::batch_scatter_async(input, offsets, sizes, count, targets, temp, temp_bytes, stream);
  });
}

hemstitch_status hemstitch_shuffle_temp_bytes(uint64_t count, size_t* temp_bytes) {
  return guarded([&] {
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::batch_shuffle_temp_bytes(count);
  });
}

hemstitch_status hemstitch_shuffle_async(const void* const* sources, const size_t* sizes,
                                         void* const* targets, uint64_t count, uint32_t element_bytes,
                                         void* temp, size_t temp_bytes, hemstitch_stream stream) {
  return guarded([&] {
    check_shuffling(sources, sizes, targets, count, element_bytes);
    hemstitch::batch_shuffle_async(sources, sizes, targets, count, element_bytes, temp, temp_bytes, stream);
  });
}

hemstitch_status hemstitch_unshuffle_async(const void* const* sources, const size_t* sizes,
                                           void* const* targets, uint64_t count, uint32_t element_bytes,
                                           void* temp, size_t temp_bytes, hemstitch_stream stream) {
  return guarded([&] {
    check_shuffling(sources, sizes, targets, count, element_bytes);
    hemstitch::batch_unshuffle_async(sources, sizes, targets, count, element_bytes, temp, temp_bytes, stream);
  });
}

hemstitch_status hemstitch_bitshuffle_temp_bytes(uint64_t count, size_t* temp_bytes) {
  return guarded([&] {
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::batch_bitshuffle_temp_bytes(count);
  });
}

hemstitch_status hemstitch_bitshuffle_async(const void* const* sources, const size_t* sizes,
                                            void* const* targets, uint64_t count, uint32_t element_bytes,
                                            size_t block_bytes, void* temp, size_t temp_bytes,
                                            hemstitch_stream stream) {
  return guarded([&] {
    check_bitshuffling(sources, sizes, targets, count, element_bytes, block_bytes);
    hemstitch::batch_bitshuffle_async(sources, sizes, targets, count, element_bytes, block_bytes, temp,
                                      temp_bytes, stream);
  });
}

hemstitch_status hemstitch_bitunshuffle_async(const void* const* sources, const size_t* sizes,
                                              void* const* targets, uint64_t count, uint32_t element_bytes,
                                              size_t block_bytes, void* temp, size_t temp_bytes,
                                              hemstitch_stream stream) {
  return guarded([&] {
    check_bitshuffling(sources, sizes, targets, count, element_bytes, block_bytes);
    hemstitch::batch_bitunshuffle_async(sources, sizes, targets, count, element_bytes, block_bytes, temp,
                                        temp_bytes, stream);
  });
}

}  // extern "C"
