// Restoration of DEFLATE streams where a batch has too few of them to fill the device with a warp each: a thread block of several warps
// restores a stream. The steps are those of deflate_restore.cu; deflate_group.cuh and deflate_group_emission.cuh tell how warps come together.
#include "format/deflate/restore/deflate_blocks.cuh"
#include "format/deflate/restore/deflate_group_emission.cuh"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/shared_memory.hpp"

namespace hemstitch::cuda {
namespace {

// A thread block, as a team (deflate_blocks.cuh).
class GroupTeam {
 public:
  static constexpr unsigned kThreads = kGroupThreads;

  __device__ GroupTeam(DeflateGroupMemory& memory, unsigned own_thread) : thread(own_thread), sh_(memory) {}

  const unsigned thread;

  __device__ void meet() const { __syncthreads(); }
  __device__ const DeflateTables& tables() const { return sh_.tables; }
  __device__ const DeflateGroupWindow& window() const { return sh_.window; }

  // By the first warp: for more there is too little to do.
  __device__ bool make_tables(const DeflateStream& stream, DeflateBlockType type, std::uint64_t& bit) {
    if (thread < 32) {
      const bool made = make_block_tables(stream, type, bit, sh_.window.table_work, sh_.tables, thread);
      if (thread == 0) sh_.bit = made ? bit : 0;
    }
    __syncthreads();
    bit = sh_.bit;
    return bit != 0;
  }
  __device__ DeflateListed find_tokens(const DeflateStream& stream, std::uint64_t bit) {
    return find_group_tokens(stream, bit, sh_, thread);
  }
  __device__ bool restore_listed(const DeflateStream& stream, unsigned count, std::uint64_t& written) {
    return restore_group_tokens(stream, count, written, sh_, thread);
  }

 private:
  DeflateGroupMemory& sh_;
};

// Restores sound streams.
//
// Mapping: a thread block a stream. Shared memory: 38 KB with eight warps. Synchronisation: barriers of the thread block. Work: linear in
// bytes read and written, times 32 and the number of warps where codes do not put themselves right and guesses fail. CPU twin: deflate_restore_reference.
__global__ void __launch_bounds__(kGroupThreads, kDeflateGroupResidency)
    restore_few_deflate_streams(const DeviceRestore batch, const LeftDeflateStreams left) {
  extern __shared__ uint4 sh_all[];
  DeflateGroupMemory& sh = *reinterpret_cast<DeflateGroupMemory*>(sh_all);
  const unsigned thread = threadIdx.x;
  {
    DeflateStream stream;
    if (!open_deflate_stream(batch, blockIdx.x, stream, thread == 0)) return;
    if (thread == 0) sh.stream = stream;
  }
  __syncthreads();
  DeflateProgress at{sh.stream.begin_bit, 0};
  GroupTeam team(sh, thread);
  const bool done = restore_blocks(sh.stream, team, at);
  if (thread == 0) close_deflate_stream(batch, left, blockIdx.x, done, at.written);
}

constexpr KernelBudget kFewStreamsBudget("deflate_restore.few_streams", "restore_few_deflate_streams",
                                         {.threads = kGroupThreads,
                                          .dynamic_shared_bytes = sizeof(DeflateGroupMemory),
                                          .registers = 65536 / (kGroupThreads * kDeflateGroupResidency),
                                          .shared_bytes = sizeof(DeflateGroupMemory)});
const KernelRegistration kFewStreamsRegistration(kFewStreamsBudget, restore_few_deflate_streams);

}  // namespace

bool few_deflate_streams_fit() { return fits_shared_memory(kFewStreamsBudget); }

void launch_few_deflate_streams(const DeviceRestore& batch, const LeftDeflateStreams& left,
                                cudaStream_t stream) {
  launch({.kernel = kFewStreamsBudget, .grid = static_cast<unsigned>(batch.count), .stream = stream},
         restore_few_deflate_streams, batch, left);
}

}  // namespace hemstitch::cuda
