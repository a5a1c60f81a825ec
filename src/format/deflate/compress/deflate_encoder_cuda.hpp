// All stages of the DEFLATE encoder on a CUDA device in order, with the memory between them. Benchmarks call
// the stages one by one.
//
//   find_near, find_chain                     whole blocks
//   cut, begin_prices
//   parse, count, code                        once a pass; the last one leaves what is packed
//   place                                     sizes
//   pack                                      bytes
//
// Every parse reads the records, and nothing reads them after the last one: then tokens use their memory.
#pragma once

#include <algorithm>
#include <string>

#include "core/block_plan.hpp"
#include "core/status.hpp"
#include "format/deflate/compress/deflate_stages_cuda.hpp"
#include "format/deflate/compress/parse/deflate_parse_cuda.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "gpu/cuda/scratch.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/near_three/near_three_cuda.hpp"

namespace hemstitch::cuda {

class DeflateEncoder {
 public:
  // Throws kInvalidOption for blocks that are too large or too many. With a carver that only counts, run
  // nothing.
  DeflateEncoder(const DeviceBlocks& blocks, const DeflateLevel& level, DeflateEnd end, Carver& carver)
      : blocks_(blocks),
        level_(level),
        end_(end),
        costs_per_chunk_(level.splits ? kDeflateChunkUnits : 1),
        places_(checked_places(blocks)) {
    const std::size_t count = places_.count, parts = count * costs_per_chunk_;
    d_records_ = carver.take<MatchRecord>(blocks.total_block_bytes);
    d_near_offsets_ = carver.take<std::uint16_t>(blocks.total_block_bytes);
    d_chunks_ = carver.take<DeviceBlock>(count);
    d_of_ = carver.take<DeflateChunkOf>(count);
    chunks_.places = places_;
    chunks_.d_of = d_of_;
    chunks_.blocks = {
        .d_blocks = d_chunks_,
        .block_count = places_.count,
        .max_block_bytes = std::min(blocks.max_block_bytes, static_cast<std::uint32_t>(kDeflateChunkBytes)),
        .max_history_bytes = kDeflateWindowBytes,
        .total_block_bytes = blocks.total_block_bytes};
    sequences_.d_sequences =
        carver.take<Sequence>(device_sequence_capacity(chunks_.blocks, deflate_block_plan()));
    sequences_.d_counts = carver.take<std::uint32_t>(count);
    sequences_.d_total = carver.take<std::uint64_t>(1);
    d_costs_ = carver.take<DeflateDeviceCosts>(parts);
    tokens_.d_counts = carver.take<DeflateSymbolCounts>(parts);
    tokens_.d_unit_begins = carver.take<DeflateUnitBegin>(count * kDeflateUnitBegins);
    tokens_.d_tokens = reinterpret_cast<DeflateDeviceToken*>(d_records_);
    static_assert(sizeof(DeflateDeviceToken) == sizeof(MatchRecord));
    d_span_bits_ = level.splits ? carver.take<std::uint32_t>(count * kDeflateSpanTable) : nullptr;
    parts_.d_parts = carver.take<DeflatePart>(parts);
    parts_.d_counts = carver.take<std::uint32_t>(count);
    chunk_places_.d_first_bits = carver.take<std::uint32_t>(count);
    chunk_places_.d_seams = carver.take<DeflateSeam>(count);
    d_sizes_ = carver.take<std::uint32_t>(blocks.block_count);
    stage_bytes_ = std::max({find_hash_chain_cuda_scratch_bytes(blocks, level.finder),
                             find_near_three_cuda_scratch_bytes(blocks, level.near),
                             parse_deflate_cuda_scratch_bytes(chunks_.blocks)});
    d_stage_ = carver.take<std::byte>(stage_bytes_);
  }

  void find_near(cudaStream_t stream) const {
    find_near_three_cuda(blocks_, level_.near, d_near_offsets_, d_stage_, stage_bytes_, stream);
  }
  void find_chain(cudaStream_t stream) const {
    find_hash_chain_cuda(blocks_, level_.finder, d_records_, d_stage_, stage_bytes_, stream);
  }
  void cut(cudaStream_t stream) const {
    cut_deflate_chunks_cuda(blocks_, chunks_, d_chunks_, d_of_, stream);
    fill_prior_deflate_costs_cuda(chunks_, costs_per_chunk_, d_costs_, stream);
  }
  unsigned pass_count() const { return level_.pass_count; }
  // A later pass needs the scratch as the first one left it.
  void parse(bool is_first, cudaStream_t stream) const {
    (is_first ? parse_deflate_cuda : parse_deflate_again_cuda)(chunks_.blocks, d_records_, d_near_offsets_,
                                                               d_costs_, costs_per_chunk_, sequences_,
                                                               d_stage_, stage_bytes_, stream);
  }
  // The last pass leaves what is packed; the others leave prices for the next pass.
  void count_and_code(bool is_last, cudaStream_t stream) const {
    DeviceTokens tokens = tokens_;
    if (!is_last) tokens.d_tokens = nullptr;
    count_deflate_tokens_cuda(chunks_, sequences_, level_.splits, tokens, stream);
    code_deflate_chunks_cuda(chunks_, level_.splits, tokens, d_span_bits_, parts_,
                             is_last ? nullptr : d_costs_, stream);
  }
  // Computes d_sizes() for each block.
  void place(cudaStream_t stream) const {
    place_deflate_chunks_cuda(blocks_, chunks_, level_.splits, parts_, end_, chunk_places_, d_sizes_, stream);
  }
  void find_and_parse(cudaStream_t stream) const {
    find_near(stream);
    find_chain(stream);
    cut(stream);
    for (unsigned pass = 1; pass <= pass_count(); ++pass) {
      parse(pass == 1, stream);
      count_and_code(pass == pass_count(), stream);
    }
    place(stream);
  }
  void pack(std::byte* const* d_targets, cudaStream_t stream) const {
    pack_deflate_chunks_cuda(blocks_, chunks_, level_.splits, tokens_, parts_, end_, chunk_places_, d_targets,
                             stream);
  }

  const std::uint32_t* d_sizes() const { return d_sizes_; }
  const DeviceSequences& sequences() const { return sequences_; }
  const DeviceChunks& chunks() const { return chunks_; }

 private:
  static DeflateChunkPlaces checked_places(const DeviceBlocks& blocks) {
    if (blocks.max_block_bytes > kDeflateMostBlockBytes)
      throw Error(Status::kInvalidOption, "a block of DEFLATE has " + std::to_string(blocks.max_block_bytes) +
                                              " bytes, it can have " +
                                              std::to_string(kDeflateMostBlockBytes));
    const auto places =
        deflate_chunk_places(blocks.block_count, blocks.max_block_bytes, blocks.total_block_bytes);
    if (!places) throw Error(Status::kInvalidOption, "a batch of DEFLATE has too many blocks; divide it");
    return *places;
  }

  DeviceBlocks blocks_;
  DeflateLevel level_;
  DeflateEnd end_;
  std::uint32_t costs_per_chunk_;
  DeflateChunkPlaces places_;
  MatchRecord* d_records_;
  std::uint16_t* d_near_offsets_;
  DeviceBlock* d_chunks_;
  DeflateChunkOf* d_of_;
  DeviceChunks chunks_;
  DeviceSequences sequences_{};
  DeflateDeviceCosts* d_costs_;
  DeviceTokens tokens_{};
  std::uint32_t* d_span_bits_;
  DeviceParts parts_{};
  DevicePlaces chunk_places_{};
  std::uint32_t* d_sizes_;
  std::size_t stage_bytes_;
  std::byte* d_stage_;
};

}  // namespace hemstitch::cuda
