// From parts of a frame to what is searched and what is written, on a CUDA device: *pieces* of kZstdFindBytes for the finders, and the format's
// blocks of kZstdOwnBlockBytes. And back: where each block goes in its part's output.
//
// Sizes of parts are in device memory, so the number of units is not known when kernels are launched. Every part has a run of *places*, each of which holds a unit or an
// empty one: either as many for each part as the largest one may need, or position / unit + index of the part where that makes fewer. An empty
// unit stands where the part ends.
//
// All are asynchronous on their stream, allocate nothing, wait for nothing, and can be captured in a graph.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"
#include "format/device_format.hpp"
#include "match/common/cuda/device_block.hpp"

namespace hemstitch::cuda {

struct ZstdUnitPlaces {
  std::uint32_t unit_bytes = 0;
  std::uint32_t count = 0;     // of the batch
  std::uint32_t per_part = 0;  // 0: by position

  // A part's first one. Parts stand in ascending order of their positions, without overlap.
  HEMSTITCH_HOST_DEVICE constexpr std::uint32_t first(std::uint64_t position,
                                                      std::uint32_t part_index) const {
    return per_part != 0 ? part_index * per_part
                         : static_cast<std::uint32_t>(position / unit_bytes) + part_index;
  }
};

// Throws kInvalidOption for so many parts, or so large ones, that kernels cannot be launched for their units.
ZstdUnitPlaces zstd_unit_places(const DeviceBlocks& parts, std::uint32_t unit_bytes);

// What cut_zstd_parts_cuda() leaves in `d_units`, of `places.count` elements. Each has at most `history_bytes` of what is before it.
DeviceBlocks cut_zstd_units(const DeviceBlocks& parts, const ZstdUnitPlaces& places,
                            std::uint32_t history_bytes, const DeviceBlock* d_units);
void cut_zstd_parts_cuda(const DeviceBlocks& parts, const ZstdUnitPlaces& places, std::uint32_t history_bytes,
                         DeviceBlock* d_units, cudaStream_t stream);

// Sets the near offsets of pieces that have few values (match/hash_chain/hash_width.hpp) to none. `d_widths`: a byte for each piece.
void drop_near_of_few_values_cuda(const DeviceBlocks& pieces, std::uint16_t* d_near_offsets,
                                  std::uint8_t* d_widths, cudaStream_t stream);

// Where blocks go.
struct ZstdPlacing {
  const std::uint32_t* d_block_sizes;  // 0 where there is no block
  std::uint32_t* d_begins;             // of each block in its part's output
  std::uint32_t* d_rooms;              // of each part, with the free room around it
  std::byte** d_targets;               // of each block; nullptr where there is none, or no room
};

// Computes d_begins, d_rooms, and the span's sizes.
void size_zstd_parts_cuda(const DeviceBlocks& parts, const ZstdUnitPlaces& places, const ZstdPlacing& placing,
                          const DeviceSpan& span, cudaStream_t stream);
// With the span's offsets: d_targets and the span's statuses.
void place_zstd_blocks_cuda(const DeviceBlocks& parts, const ZstdUnitPlaces& places,
                            const ZstdPlacing& placing, const DeviceSpan& span, cudaStream_t stream);

}  // namespace hemstitch::cuda
