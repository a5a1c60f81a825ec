#include "core/status.hpp"
#include "format/zstd/block/zstd_block_header.hpp"
#include "format/zstd/stream/zstd_walk_blocks_cuda.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 32;

// Mapping: one lane. No shared memory, no synchronisation. Work: linear in blocks, each after the latency of a load: some 3 ms for the 4,096 of a piece, while others
// are decoded. CPU twin: find_zstd_blocks().
__global__ void __launch_bounds__(kThreads)
    walk_blocks(const std::uint8_t* const d_data, const std::uint32_t data_bytes,
                const std::uint32_t most_blocks, std::uint32_t* const d_block_at,
                ZstdWalkedBlocks* const d_walked) {
  if (threadIdx.x != 0) return;
  ZstdWalkedBlocks walked{};
  while (walked.has_last == 0 && walked.count < most_blocks) {
    const std::uint32_t rest = data_bytes - walked.data_bytes;
    if (rest < kZstdBlockHeaderBytes) break;
    const std::uint8_t* const d_header = d_data + walked.data_bytes;
    const std::uint32_t header = d_header[0] | d_header[1] << 8 | d_header[2] << 16;
    const auto type = static_cast<ZstdBlockType>(header >> 1 & 3);
    const std::uint32_t bytes = kZstdBlockHeaderBytes + (type == ZstdBlockType::kRle ? 1 : header >> 3);
    if (type == ZstdBlockType::kReserved || bytes > rest) break;
    d_block_at[walked.count++] = walked.data_bytes;
    walked.data_bytes += bytes;
    walked.has_last = header & 1;
  }
  *d_walked = walked;
}

constexpr KernelBudget kWalkBudget("zstd_stream.walk", "walk_blocks", {.threads = kThreads, .registers = 40});
const KernelRegistration kWalkRegistration(kWalkBudget, walk_blocks);

}  // namespace

void walk_zstd_blocks(const std::byte* d_data, std::size_t data_bytes, std::uint32_t most_blocks,
                      std::uint32_t* d_block_at, ZstdWalkedBlocks* d_walked, cudaStream_t stream) {
  if (data_bytes >= std::size_t{1} << 31)
    throw Error(Status::kInvalidOption, "walk_zstd_blocks: 2^31 bytes or more");
  launch({.kernel = kWalkBudget, .grid = 1, .stream = stream}, walk_blocks,
         reinterpret_cast<const std::uint8_t*>(d_data), static_cast<std::uint32_t>(data_bytes), most_blocks,
         d_block_at, d_walked);
}

}  // namespace hemstitch::cuda
