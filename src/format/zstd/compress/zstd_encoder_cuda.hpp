// All stages of the Zstandard encoder on a CUDA device in order, with the memory between them. Benchmarks call
// the stages one by one. The twin is compress_zstd_part_reference().
//
//   cut                                       parts -> pieces, which are searched, and the format's blocks
//   find_near, find_chain, find_far           records of all positions
//   parse_lazily
//   price, parse                              once a pass: the prices of the parse before, then the optimal parse
//   size                                      tables, states, and how many bytes each block takes
//   pack                                      bytes, wherever the caller has placed them
//
// Memory is used again. Nothing reads records after the last parse: what writing needs lies there then. The finders' scratch, then sequences and what is counted of them share another part.
#pragma once

#include <algorithm>

#include "core/block_plan.hpp"
#include "format/zstd/compress/parse/zstd_parse_cuda.hpp"
#include "format/zstd/compress/zstd_compress_reference.hpp"
#include "format/zstd/compress/zstd_cut_cuda.hpp"
#include "format/zstd/compress/zstd_encoder_stages_cuda.hpp"
#include "format/zstd/zstd_levels.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "gpu/cuda/scratch.hpp"
#include "match/far/far_cuda.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/near_three/near_three_wide_cuda.hpp"

namespace hemstitch::cuda {

class ZstdEncoder {
 public:
  // Throws kInvalidOption for parts that are too large or too many. With a carver that only counts, run
  // nothing.
  ZstdEncoder(const DeviceBlocks& parts, const ZstdLevel& level, Carver& carver)
      : parts_(parts),
        level_(level),
        piece_places_(zstd_unit_places(parts, kZstdFindBytes)),
        block_places_(zstd_unit_places(parts, kZstdOwnBlockBytes)) {
    d_near_pieces_ = carver.take<DeviceBlock>(piece_places_.count);
    near_pieces_ = cut_zstd_units(parts, piece_places_, kZstdNearWindowBytes, d_near_pieces_);
    if (!level.far.empty()) {
      d_far_pieces_ = carver.take<DeviceBlock>(piece_places_.count);
      far_pieces_ = cut_zstd_units(parts, piece_places_, far_window_bytes(), d_far_pieces_);
    }
    d_blocks_ = carver.take<DeviceBlock>(block_places_.count);
    blocks_ = cut_zstd_units(parts, block_places_, kAllHistory, d_blocks_);
    d_widths_ = carver.take<std::uint8_t>(piece_places_.count);
    d_block_sizes_ = carver.take<std::uint32_t>(block_places_.count);
    sequences_.d_counts = carver.take<std::uint32_t>(block_places_.count);
    sequences_.d_total = carver.take<std::uint64_t>(1);
    if (!level.passes.empty()) d_prices_ = carver.take<ZstdDevicePrices>(block_places_.count);

    Carver counted_records(nullptr), counted_work(nullptr);
    carve(counted_records, counted_work);
    d_records_memory_ = carver.take<std::byte>(counted_records.bytes());
    d_work_memory_ = carver.take<std::byte>(counted_work.bytes());
    Carver records(d_records_memory_), work(d_work_memory_);
    carve(records, work);
  }

  void cut(cudaStream_t stream) const {
    cut_zstd_parts_cuda(parts_, piece_places_, kZstdNearWindowBytes, d_near_pieces_, stream);
    if (d_far_pieces_ != nullptr)
      cut_zstd_parts_cuda(parts_, piece_places_, far_window_bytes(), d_far_pieces_, stream);
    cut_zstd_parts_cuda(parts_, block_places_, kAllHistory, d_blocks_, stream);
  }
  void find_near(cudaStream_t stream) const {
    find_near_three_wide_cuda(near_pieces_, level_.near, d_near_offsets_, d_find_, find_bytes_, stream);
    drop_near_of_few_values_cuda(near_pieces_, d_near_offsets_, d_widths_, stream);
  }
  void find_chain(cudaStream_t stream) const {
    find_hash_chain_cuda(near_pieces_, level_.finder, d_records_, d_find_, find_bytes_, stream);
  }
  std::size_t far_count() const { return level_.far.size(); }
  void find_far(std::size_t finder, cudaStream_t stream) const {
    find_far_cuda(far_pieces_, level_.far[finder], d_far_records_[finder], d_find_, find_bytes_, stream);
  }
  void parse_lazily(cudaStream_t stream) const { parse_zstd_lazy_cuda(blocks_, found(), sequences_, stream); }
  std::size_t pass_count() const { return level_.passes.size(); }
  void price(cudaStream_t stream) const {
    price_zstd_blocks_cuda(blocks_, sequences_, encode_room_, d_prices_, stream);
  }
  void parse(std::size_t pass, cudaStream_t stream) const {
    parse_zstd_optimal_cuda(blocks_, found(), d_prices_, level_.passes[pass], sequences_, stream);
  }
  // Computes d_block_sizes().
  void size(cudaStream_t stream) const {
    size_zstd_blocks_cuda(blocks_, sequences_, encode_room_, d_block_sizes_, stream);
  }
  // All of the above.
  void find_and_parse(cudaStream_t stream) const {
    cut(stream);
    find_near(stream);
    find_chain(stream);
    for (std::size_t finder = 0; finder < far_count(); ++finder) find_far(finder, stream);
    parse_lazily(stream);
    for (std::size_t pass = 0; pass < pass_count(); ++pass) {
      price(stream);
      parse(pass, stream);
    }
    size(stream);
  }
  void pack(std::byte* const* d_targets, cudaStream_t stream) const {
    pack_zstd_blocks_cuda(blocks_, encode_room_, d_targets, stream);
  }

  const ZstdUnitPlaces& block_places() const { return block_places_; }
  const std::uint32_t* d_block_sizes() const { return d_block_sizes_; }

 private:
  static constexpr std::uint32_t kAllHistory = ~std::uint32_t{0};

  ZstdFound found() const {
    ZstdFound found{.d_records = d_records_, .d_near_offsets = d_near_offsets_};
    std::copy_n(d_far_records_, far_count(), found.d_far_records);
    return found;
  }

  std::uint32_t far_window_bytes() const {
    std::uint32_t most = 0;
    for (const FarParameters& far : level_.far) most = std::max(most, far.window_bytes);
    return most;
  }

  // Divides the two parts of memory that are used again: by carvers that count, or that know where the parts are.
  void carve(Carver& records, Carver& work) {
    const std::size_t positions = parts_.total_block_bytes;
    Carver writing = records;
    d_records_ = records.take<MatchRecord>(positions);
    d_near_offsets_ = records.take<std::uint16_t>(positions);
    for (std::size_t i = 0; i < far_count(); ++i) d_far_records_[i] = records.take<FarRecord>(positions);

    Carver finding = work;
    find_bytes_ = std::max(find_hash_chain_cuda_scratch_bytes(near_pieces_, level_.finder),
                           find_near_three_wide_cuda_scratch_bytes(near_pieces_, level_.near));
    for (const FarParameters& far : level_.far)
      find_bytes_ = std::max(find_bytes_, find_far_cuda_scratch_bytes(far_pieces_, far));
    d_find_ = finding.take<std::byte>(find_bytes_);
    sequences_.d_sequences = work.take<Sequence>(device_sequence_capacity(blocks_, zstd_block_plan()));
    encode_room_ = take_zstd_encode_room(blocks_, work, writing);
    work = larger(work, finding);
    records = larger(records, writing);
  }
  static const Carver& larger(const Carver& one, const Carver& other) {
    return one.bytes() < other.bytes() ? other : one;
  }

  DeviceBlocks parts_;
  ZstdLevel level_;
  ZstdUnitPlaces piece_places_, block_places_;
  DeviceBlock* d_near_pieces_;
  DeviceBlock* d_far_pieces_ = nullptr;
  DeviceBlock* d_blocks_;
  DeviceBlocks near_pieces_, far_pieces_, blocks_;
  std::uint8_t* d_widths_;
  std::uint32_t* d_block_sizes_;
  std::byte* d_records_memory_;
  std::byte* d_work_memory_;
  MatchRecord* d_records_ = nullptr;
  std::uint16_t* d_near_offsets_ = nullptr;
  FarRecord* d_far_records_[kZstdMostFarFinders] = {};
  std::byte* d_find_ = nullptr;
  std::size_t find_bytes_ = 0;
  DeviceSequences sequences_{};
  ZstdDevicePrices* d_prices_ = nullptr;
  ZstdEncodeRoom encode_room_{};
};

}  // namespace hemstitch::cuda
