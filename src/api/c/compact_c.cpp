// Implements compact.h with compact.hpp.
#include <algorithm>

#include "api/c/c_options.hpp"
#include "hemstitch/compact.h"
#include "hemstitch/compact.hpp"

using namespace hemstitch;

namespace {

std::uint64_t bytes_of_all(const std::uint32_t* sizes, std::size_t count) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += sizes[i];
  return bytes;
}

// Checks the pieces; an empty piece may have no pointer.
void need_pieces(const void* const* pieces, const std::uint32_t* sizes, std::size_t count,
                 std::string_view name) {
  for (std::size_t i = 0; i < count; ++i) need_for(sizes[i], pieces[i], name);
}

}  // namespace

extern "C" {

hemstitch_status hemstitch_scan_sizes(const uint32_t* sizes, size_t count, uint64_t* offsets) {
  return guarded([&] {
    need_for(count, sizes, "sizes");
    scan_sizes({sizes, count}, {needed(offsets, "offsets"), count + 1});
  });
}

hemstitch_status hemstitch_gather_pieces(const void* const* sources, const uint32_t* sizes,
                                         const uint64_t* offsets, size_t count, void* output,
                                         size_t output_capacity) {
  return guarded([&] {
    need_for(count, sources, "sources");
    need_for(count, sizes, "sizes");
    need_for(count, offsets, "offsets");
    need_pieces(sources, sizes, count, "a source");
    need_for(bytes_of_all(sizes, count), output, "output");
    gather_pieces({reinterpret_cast<const std::byte* const*>(sources), count}, {sizes, count},
                  {offsets, count}, room_of(output, output_capacity));
  });
}

hemstitch_status hemstitch_scatter_pieces(const void* input, size_t input_bytes, const uint64_t* offsets,
                                          const uint32_t* sizes, size_t count, void* const* targets) {
  return guarded([&] {
    need_for(input_bytes, input, "input");
    need_for(count, offsets, "offsets");
    need_for(count, sizes, "sizes");
    need_for(count, targets, "targets");
    need_pieces(targets, sizes, count, "a target");
    scatter_pieces(bytes_of(input, input_bytes), {offsets, count}, {sizes, count},
                   {reinterpret_cast<std::byte* const*>(targets), count});
  });
}

hemstitch_status hemstitch_shuffle_bytes(const void* source, size_t bytes, uint32_t element_bytes,
                                         void* target) {
  return guarded([&] {
    need_for(bytes, source, "source");
    need_for(bytes, target, "target");
    shuffle_bytes(bytes_of(source, bytes), element_bytes, room_of(target, bytes));
  });
}

hemstitch_status hemstitch_unshuffle_bytes(const void* source, size_t bytes, uint32_t element_bytes,
                                           void* target) {
  return guarded([&] {
    need_for(bytes, source, "source");
    need_for(bytes, target, "target");
    unshuffle_bytes(bytes_of(source, bytes), element_bytes, room_of(target, bytes));
  });
}

hemstitch_status hemstitch_bitshuffle_bytes(const void* source, size_t bytes, uint32_t element_bytes,
                                            size_t block_bytes, void* target) {
  return guarded([&] {
    need_for(bytes, source, "source");
    need_for(bytes, target, "target");
    bitshuffle_bytes(bytes_of(source, bytes), element_bytes, block_bytes, room_of(target, bytes));
  });
}

hemstitch_status hemstitch_bitunshuffle_bytes(const void* source, size_t bytes, uint32_t element_bytes,
                                              size_t block_bytes, void* target) {
  return guarded([&] {
    need_for(bytes, source, "source");
    need_for(bytes, target, "target");
    bitunshuffle_bytes(bytes_of(source, bytes), element_bytes, block_bytes, room_of(target, bytes));
  });
}

hemstitch_status hemstitch_delta_bytes(const void* source, size_t bytes, uint32_t element_bytes,
                                       void* target) {
  return guarded([&] {
    need_for(bytes, source, "source");
    need_for(bytes, target, "target");
    delta_bytes(bytes_of(source, bytes), element_bytes, room_of(target, bytes));
  });
}

hemstitch_status hemstitch_undelta_bytes(const void* source, size_t bytes, uint32_t element_bytes,
                                         void* target) {
  return guarded([&] {
    need_for(bytes, source, "source");
    need_for(bytes, target, "target");
    undelta_bytes(bytes_of(source, bytes), element_bytes, room_of(target, bytes));
  });
}

}  // extern "C"
