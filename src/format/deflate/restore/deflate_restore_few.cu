// Restoration of DEFLATE streams where a batch has too few of them to fill the device with a warp each: a thread block of several warps
// restores a stream. The steps are those of deflate_restore.cu; deflate_group.cuh and deflate_group_emission.cuh explain how the
// warps work together.
#include "format/deflate/restore/deflate_blocks.cuh"
#include "format/deflate/restore/deflate_group_emission.cuh"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/shared_memory.hpp"

namespace hemstitch::cuda {
namespace {

// A thread block, as a team (deflate_blocks.cuh).
template <unsigned kWarps>
class GroupTeam {
 public:
  static constexpr unsigned kThreads = DeflateGroup<kWarps>::kThreads;

  __device__ GroupTeam(DeflateGroupMemory<kWarps>& memory, unsigned own_thread)
      : thread(own_thread), sh_(memory) {}

  const unsigned thread;

  __device__ void meet() const { __syncthreads(); }
  __device__ const DeflateTables& tables() const { return sh_.tables; }
  __device__ const DeflateGroupWindow<kWarps>& window() const { return sh_.window; }

  // By the first warp alone: there is too little work for more.
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
  DeflateGroupMemory<kWarps>& sh_;
};

template <unsigned kWarps>
__device__ DeflateGroupMemory<kWarps>& group_memory() {
  extern __shared__ uint4 sh_all[];
  return *reinterpret_cast<DeflateGroupMemory<kWarps>*>(sh_all);
}

template <unsigned kWarps>
__device__ void restore_by_group(const DeviceRestore& batch, const LeftDeflateStreams& left,
                                 std::uint64_t index, DeflateGroupMemory<kWarps>& sh) {
  const unsigned thread = threadIdx.x;
  {
    DeflateStream stream;
    if (!open_deflate_stream(batch, index, stream, thread == 0)) return;
    if (thread == 0) sh.stream = stream;
  }
  __syncthreads();
  DeflateProgress at{sh.stream.begin_bit, 0};
  GroupTeam<kWarps> team(sh, thread);
  const bool done = restore_blocks(sh.stream, team, at);
  if (thread == 0) close_deflate_stream(batch, left, index, done, at.written);
}

// Restores sound streams.
//
// Mapping: a thread block a stream. Shared memory: 38 KB with eight warps, 212 KB with 32. Synchronisation: barriers of the thread block. Work:
// linear in bytes read and written; times 32 and the number of warps where codes do not synchronise and guesses fail. CPU twin:
// deflate_restore_reference.
template <unsigned kWarps>
__global__ void __launch_bounds__(DeflateGroup<kWarps>::kThreads, kDeflateResidentWarps / kWarps)
    restore_few_deflate_streams(const DeviceRestore batch, const LeftDeflateStreams left,
                                const LongDeflateStreams apart) {
  DeflateGroupMemory<kWarps>& sh = group_memory<kWarps>();
  const std::uint64_t index = blockIdx.x;
  bool is_apart = false;
  if (threadIdx.x == 0) is_apart = set_apart(batch, apart, index);
  if (__syncthreads_or(is_apart ? 1 : 0) == 0) restore_by_group(batch, left, index, sh);
}

// Restores the streams that were set apart, as far as they are sound, like the kernel above.
__global__ void __launch_bounds__(DeflateGroup<kDeflateFewestWarps>::kThreads,
                                  kDeflateResidentWarps / kDeflateFewestWarps)
    restore_long_deflate_streams(const DeviceRestore batch, const LeftDeflateStreams left,
                                 const LongDeflateStreams streams) {
  if (blockIdx.x < *streams.d_count)
    restore_by_group(batch, left, streams.d_indices[blockIdx.x], group_memory<kDeflateFewestWarps>());
}

template <unsigned kWarps>
consteval KernelBudget group_budget(std::string_view name, std::string_view function) {
  return {name,
          function,
          {.threads = DeflateGroup<kWarps>::kThreads,
           .dynamic_shared_bytes = sizeof(DeflateGroupMemory<kWarps>),
           .registers = 65536 / (32 * kDeflateResidentWarps),
           .shared_bytes = sizeof(DeflateGroupMemory<kWarps>)}};
}
static_assert(kDeflateFewWarps == 8 && kDeflateFewestWarps == 32, "the entries below name them");
constexpr KernelBudget kFewBudget =
    group_budget<kDeflateFewWarps>("deflate_restore.few_streams", "restore_few_deflate_streams<8>");
constexpr KernelBudget kFewestBudget =
    group_budget<kDeflateFewestWarps>("deflate_restore.fewest_streams", "restore_few_deflate_streams<32>");
constexpr KernelBudget kLongBudget =
    group_budget<kDeflateFewestWarps>("deflate_restore.long_streams", "restore_long_deflate_streams");
const KernelRegistration kFewRegistration(kFewBudget, restore_few_deflate_streams<kDeflateFewWarps>);
const KernelRegistration kFewestRegistration(kFewestBudget, restore_few_deflate_streams<kDeflateFewestWarps>);
const KernelRegistration kLongRegistration(kLongBudget, restore_long_deflate_streams);

}  // namespace

bool few_deflate_streams_fit(DeflateWay way) {
  return fits_shared_memory(way == DeflateWay::kFew ? kFewBudget : kFewestBudget);
}

void launch_few_deflate_streams(DeflateWay way, const DeviceRestore& batch, const LeftDeflateStreams& left,
                                const LongDeflateStreams& set_apart, cudaStream_t stream) {
  const auto launch_by = [&](const KernelBudget& budget, auto kernel) {
    launch({.kernel = budget, .grid = static_cast<unsigned>(batch.count), .stream = stream}, kernel, batch,
           left, set_apart);
  };
  if (way == DeflateWay::kFew)
    launch_by(kFewBudget, restore_few_deflate_streams<kDeflateFewWarps>);
  else
    launch_by(kFewestBudget, restore_few_deflate_streams<kDeflateFewestWarps>);
}

void launch_long_deflate_streams(const DeviceRestore& batch, const LeftDeflateStreams& left,
                                 const LongDeflateStreams& streams, cudaStream_t stream) {
  launch({.kernel = kLongBudget, .grid = kDeflateMostLongStreams, .stream = stream},
         restore_long_deflate_streams, batch, left, streams);
}

}  // namespace hemstitch::cuda
