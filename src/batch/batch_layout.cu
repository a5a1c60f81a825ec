// Thread mapping: one thread a block of the batch. No shared memory, no synchronisation.
#include "batch/batch_layout.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "gpu/cuda/launch.hpp"
#include "parse/parse_room.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    admit_blocks(const GivenBlocks given, std::uint32_t* d_admitted_bytes, hemstitch_status* d_statuses) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= given.count) return;
  const std::uint64_t input_bytes =
      given.d_input_bytes_32 != nullptr ? given.d_input_bytes_32[i] : given.d_input_bytes_64[i];
  const std::uint32_t history_bytes = given.d_history_bytes == nullptr ? 0 : given.d_history_bytes[i];
  const bool admitted = input_bytes <= given.max_input_bytes && history_bytes <= given.max_history_bytes &&
                        (given.d_inputs == nullptr || given.d_inputs[i] != nullptr || input_bytes == 0);
  d_admitted_bytes[i] = admitted ? static_cast<std::uint32_t>(input_bytes) : 0;
  d_statuses[i] = admitted ? HEMSTITCH_OK : HEMSTITCH_INVALID_OPTION;
}

// `d_first_sequences` may be left out.
__global__ void __launch_bounds__(kThreads)
    place_blocks(const GivenBlocks given, const std::uint32_t* d_admitted_bytes, const std::uint64_t* d_first,
                 const BlockPlan plan, DeviceBlock* d_blocks, std::uint64_t* d_first_sequences,
                 hemstitch_status* d_statuses) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= given.count) return;
  const std::uint64_t position = min(d_first[i], given.total_input_bytes);
  std::uint32_t block_bytes = d_admitted_bytes[i];
  if (d_first[i] + block_bytes > given.total_input_bytes) {
    block_bytes = 0;
    d_statuses[i] = HEMSTITCH_OUTPUT_TOO_SMALL;
  }
  const bool has_history = block_bytes != 0 && given.d_history_bytes != nullptr;
  d_blocks[i] = {given.d_inputs == nullptr ? nullptr : static_cast<const std::byte*>(given.d_inputs[i]),
                 block_bytes, has_history ? given.d_history_bytes[i] : 0, position};
  if (d_first_sequences != nullptr) d_first_sequences[i] = first_sequence(position, i, plan);
}

constexpr KernelBudget kAdmitBudget("batch.admit_blocks", "admit_blocks",
                                    {.threads = kThreads, .registers = 32});
constexpr KernelBudget kPlaceBudget("batch.place_blocks", "place_blocks",
                                    {.threads = kThreads, .registers = 40});
const KernelRegistration kAdmitRegistration(kAdmitBudget, admit_blocks);
const KernelRegistration kPlaceRegistration(kPlaceBudget, place_blocks);

}  // namespace

BatchLayout::BatchLayout(const GivenBlocks& given, Carver& carver)
    : given_(given), scan_bytes_(scan_sizes_cuda_scratch_bytes(given.count)) {
  d_admitted_bytes_ = carver.take<std::uint32_t>(given.count);
  d_scan_ = carver.take<std::byte>(scan_bytes_);
  d_blocks_ = carver.take<DeviceBlock>(given.count);
}

void BatchLayout::lay_out(std::uint64_t* d_first, const BlockPlan& plan, std::uint64_t* d_first_sequences,
                          hemstitch_status* d_statuses, cudaStream_t stream) const {
  const unsigned grid = given_.count / kThreads + (given_.count % kThreads != 0);
  launch({.kernel = kAdmitBudget, .grid = grid, .stream = stream}, admit_blocks, given_, d_admitted_bytes_,
         d_statuses);
  scan_sizes_cuda(d_admitted_bytes_, given_.count, d_first, d_scan_, scan_bytes_, stream);
  launch({.kernel = kPlaceBudget, .grid = grid, .stream = stream}, place_blocks, given_, d_admitted_bytes_,
         d_first, plan, d_blocks_, d_first_sequences, d_statuses);
}

void need_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
}

}  // namespace hemstitch::cuda
