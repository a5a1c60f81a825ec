// The parses of Zstandard on a CUDA device: exactly the sequences of parse_zstd_lazy() and parse_zstd_optimal(), for a batch of the format's
// blocks.
//
// Unlike other parses, these read the blocks' bytes and what is before them: they compare with offsets that the walk has used. A list has room from
// first_sequence() on, by zstd_block_plan(), as the stages behind the parse expect.
//
// All are asynchronous on their stream, allocate nothing, wait for nothing, and can be captured in a graph.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"
#include "format/zstd/compress/parse/zstd_optimal.hpp"
#include "format/zstd/compress/zstd_block_plan.hpp"
#include "format/zstd/compress/zstd_device_prices.hpp"
#include "match/common/cuda/device_block.hpp"
#include "match/far/far_record.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// What the finders leave, at DeviceBlock::position.
struct ZstdFound {
  const MatchRecord* d_records = nullptr;         // of hash_chain
  const std::uint16_t* d_near_offsets = nullptr;  // of near_three
  const FarRecord* d_far_records[kZstdMostFarFinders] =
      {};  // nullptr from the first finder on that the level lacks
};

// The lazy parse. Throws kInvalidOption for blocks of more than kZstdOwnBlockBytes.
void parse_zstd_lazy_cuda(const DeviceBlocks& blocks, const ZstdFound& found,
                          const DeviceSequences& sequences, cudaStream_t stream);

// `d_prices`: one for each block. The lists' room is also scratch: each position's decision lies there. Throws kInvalidOption for blocks that are too large,
// and for a pass that no level has.
void parse_zstd_optimal_cuda(const DeviceBlocks& blocks, const ZstdFound& found,
                             const ZstdDevicePrices* d_prices, const ZstdPass& pass,
                             const DeviceSequences& sequences, cudaStream_t stream);

}  // namespace hemstitch::cuda
