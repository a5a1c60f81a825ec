#include <cstring>

#include "core/status.hpp"
#include "format/deflate/stream/deflate_stream_stages.cuh"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kCopyThreads = 256;
constexpr std::uint32_t kMostPages = (std::uint64_t{1} << 32) / kDeflatePageSymbols - 1;

// Cuts all arrays of a piece out of its scratch memory.
void take_arrays(Carver& carve, const DeflatePieceLimits& limits, DeflatePieceWork& work) {
  const std::size_t starts = limits.starts, entries = limits.entries,
                    parts = std::size_t{limits.pages} * kDeflatePageParts;
  work.d_status = carve.take<DeflateStreamStatus>(1);
  work.d_candidates = carve.take<std::uint64_t>(limits.candidates);
  work.d_found = carve.take<std::uint64_t>(starts);
  work.d_sorted = carve.take<std::uint64_t>(starts);
  work.d_keys = carve.take<std::uint64_t>(starts);
  work.d_entry_counts = carve.take<std::uint32_t>(starts + 1);
  work.d_first_entries = carve.take<std::uint32_t>(starts + 1);
  work.d_entries = carve.take<DeflateStreamEntry>(entries);
  work.d_results = carve.take<DeflateEntryResult>(entries);
  work.d_claims = carve.take<std::uint64_t>(entries);
  work.d_forced = carve.take<std::uint64_t>(entries);
  work.d_repairs = carve.take<std::uint32_t>(entries);
  work.d_jumps = carve.take<std::uint32_t>(entries + 1);
  work.d_further_jumps = carve.take<std::uint32_t>(entries + 1);
  work.d_reached = carve.take<std::uint8_t>(entries + 1);
  work.d_sums = carve.take<DeflateChainSum>(entries + 1);
  work.d_offsets = carve.take<DeflateChainSum>(entries + 1);
  work.d_orders = carve.take<std::uint32_t>(entries);
  work.d_chunks = carve.take<DeflateChunk>(entries);
  work.d_members = carve.take<DeflateMemberEnd>(entries);
  work.d_checksums = carve.take<std::uint32_t>(entries + 1);
  work.d_symbols = carve.take<std::uint16_t>(parts * kDeflatePartSymbols);
  work.d_owners = carve.take<DeflatePageOwner>(parts);
  work.d_spans = carve.take<const std::byte*>(parts);
  work.d_span_bytes = carve.take<std::size_t>(parts);
  work.d_span_checksums = carve.take<std::uint32_t>(parts);
  work.d_maps = carve.take<std::uint16_t>(std::size_t{kDeflateWindowGroups} * kDeflateWindowBytes);
  work.d_further_maps = carve.take<std::uint16_t>(std::size_t{kDeflateWindowGroups} * kDeflateWindowBytes);
  const std::size_t of_starts = deflate_starts_cub_bytes(limits), of_chain = deflate_chain_cub_bytes(limits);
  work.cub_bytes = of_starts > of_chain ? of_starts : of_chain;
  work.d_cub = carve.take<std::byte>(work.cub_bytes);
}

std::uint32_t at_most(std::uint64_t number, std::uint32_t most) {
  return number < most ? static_cast<std::uint32_t>(number) : most;
}

// Mapping: a thread a byte. Work: linear.
__global__ void __launch_bounds__(kCopyThreads)
    copy_few_bytes(const std::uint8_t* from, std::uint8_t* to, std::uint32_t bytes) {
  const std::uint32_t i = blockIdx.x * kCopyThreads + threadIdx.x;
  if (threadIdx.x == 0) trace_mark(kTraceCopyFewBytes, i);
  if (i < bytes) to[i] = from[i];
}

constexpr KernelBudget kCopyBudget("deflate_stream.copy_few_bytes", "copy_few_bytes",
                                   {.threads = kCopyThreads, .registers = 32});
const KernelRegistration kCopyRegistration(kCopyBudget, copy_few_bytes);

template <class T>
void read(const T* d_from, std::size_t count, T* to, std::byte* h_mailbox, cudaStream_t stream) {
  const bool by_mailbox = h_mailbox != nullptr && count * sizeof(T) <= kDeflateMailboxBytes;
  if (by_mailbox)
    copy_few_bytes_cuda(h_mailbox, d_from, count * sizeof(T), stream);
  else
    check(cudaMemcpyAsync(to, d_from, count * sizeof(T), cudaMemcpyDefault, stream), "deflate_stream");
  check(cudaStreamSynchronize(stream), "deflate_stream");
  if (by_mailbox) std::memcpy(to, h_mailbox, count * sizeof(T));
}

DeflateStreamStatus read_status(const DeflatePieceWork& work, std::byte* h_mailbox, cudaStream_t stream) {
  DeflateStreamStatus status;
  read(work.d_status, 1, &status, h_mailbox, stream);
  return status;
}

template <class T>
std::vector<T> read_array(const T* d_array, std::size_t count, std::byte* h_mailbox, cudaStream_t stream) {
  std::vector<T> array(count);
  read(d_array, count, array.data(), h_mailbox, stream);
  return array;
}

void check_limits(const DeflatePieceInput& piece, const DeflatePieceLimits& limits) {
  if (piece.bytes > kDeflateMostPieceBytes || piece.begin_bits > 8 * std::uint64_t{piece.bytes} ||
      piece.window_bytes > kDeflateWindowBytes)
    throw Error(Status::kInvalidOption, "deflate_stream: a piece above its bounds");
  if (limits.starts < 4 || limits.starts > 1u << 30 || limits.entries < 1 || limits.entries > 1u << 30 ||
      limits.pages < 1 || limits.pages > kMostPages || limits.spacing_bytes < kDeflateLeastSpacing ||
      limits.spacing_bytes % 4 != 0 || limits.entry_bytes > kDeflateMostPieceBytes || limits.repairs < 1)
    throw Error(Status::kInvalidOption, "deflate_stream: limits that are none");
}

constexpr std::uint64_t lead_bits(const std::byte* d_bytes) {
  return 8 * (reinterpret_cast<std::uintptr_t>(d_bytes) & 3);
}

DeflatePieceWork work_of(const DeflatePieceInput& piece, const DeflatePieceLimits& limits, void* d_scratch,
                         std::size_t scratch_bytes) {
  check_limits(piece, limits);
  check_scratch("deflate_stream", restore_deflate_piece_cuda_scratch_bytes(limits), d_scratch, scratch_bytes);
  DeflatePieceWork work{};
  Carver carve(d_scratch);
  take_arrays(carve, limits, work);
  const auto address = reinterpret_cast<std::uintptr_t>(piece.d_bytes);
  const std::uint64_t lead = lead_bits(piece.d_bytes);
  work.stream.d_words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  work.stream.begin_bit = lead;
  work.stream.end_bit = lead + 8 * std::uint64_t{piece.bytes};
  work.begin_bit = lead + piece.begin_bits;
  work.d_window = reinterpret_cast<const std::uint8_t*>(piece.d_window);
  work.window_bytes = piece.window_bytes;
  work.members = piece.members;
  work.limits = limits;
  return work;
}

}  // namespace

void copy_few_bytes_cuda(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  launch({.kernel = kCopyBudget,
          .grid = static_cast<unsigned>((bytes + kCopyThreads - 1) / kCopyThreads),
          .stream = stream},
         copy_few_bytes, static_cast<const std::uint8_t*>(from), static_cast<std::uint8_t*>(to),
         static_cast<std::uint32_t>(bytes));
}

DeflatePieceLimits deflate_piece_limits(std::size_t piece_bytes, std::size_t output_bytes) {
  DeflatePieceLimits limits;
  limits.candidates = at_most(std::uint64_t{piece_bytes} / 64 + 4096, 1u << 30);  // one of 512 positions
  limits.starts = at_most(std::uint64_t{piece_bytes} / 1024 + 4096, 1u << 30);
  limits.entries = limits.starts;
  limits.spacing_bytes = kDeflateSpacingBytes;
  // Room for the content, for the unused rest of each entry's last page (half a page), and a quarter more for entries that lead nowhere.
  const std::uint64_t symbols = std::uint64_t{output_bytes} + output_bytes / 4 +
                                std::uint64_t{piece_bytes} / kDeflateSpacingBytes * (kDeflatePageSymbols / 2);
  limits.pages = at_most(symbols / kDeflatePageSymbols + 64, kMostPages);
  limits.entry_bytes = kDeflateEntryBytes;
  limits.entry_blocks = kDeflateEntryBlocks;
  limits.repairs = kDeflateRepairs;
  return limits;
}

std::size_t restore_deflate_piece_cuda_scratch_bytes(const DeflatePieceLimits& limits) {
  DeflatePieceWork work{};
  Carver carve(nullptr);
  take_arrays(carve, limits, work);
  return carve.bytes();
}

DeflatePieceBegun begin_deflate_piece_cuda(const DeflatePieceInput& piece, const DeflatePieceLimits& limits,
                                           void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  DeflatePieceWork work = work_of(piece, limits, d_scratch, scratch_bytes);
  check(cudaMemsetAsync(work.d_owners, 0xFF,
                        std::size_t{limits.pages} * kDeflatePageParts * sizeof *work.d_owners, stream),
        "deflate_stream");
  find_deflate_starts(work, stream);
  DeflateStreamStatus status = read_status(work, piece.h_mailbox, stream);
  work.start_count = at_most(status.starts, limits.starts);
  make_deflate_entries(work, stream);
  status = read_status(work, piece.h_mailbox, stream);
  work.entry_count = at_most(status.entries, limits.entries);
  restore_deflate_entries(work, 0, 0, stream);
  return {work.start_count, work.entry_count};
}

std::optional<DeflatePieceResult> finish_deflate_piece_cuda(const DeflatePieceInput& piece,
                                                            const DeflatePieceBegun& begun,
                                                            const DeflatePieceLimits& limits,
                                                            std::byte* d_output, std::size_t output_capacity,
                                                            void* d_scratch, std::size_t scratch_bytes,
                                                            cudaStream_t stream) {
  DeflatePieceWork work = work_of(piece, limits, d_scratch, scratch_bytes);
  work.start_count = begun.starts;
  work.entry_count = begun.entries;
  work.d_output = reinterpret_cast<std::uint8_t*>(d_output);
  work.output_capacity = output_capacity;
  DeflatePieceResult result;
  DeflateStreamStatus status;
  for (std::uint32_t round = 1;; ++round) {
    follow_deflate_entries(work, stream);
    if (round > limits.repairs) break;
    status = read_status(work, piece.h_mailbox, stream);
    if (status.begins == 0) return std::nullopt;
    if (status.repairs == 0) break;
    result.repaired += status.repairs;
    restore_deflate_entries(work, round, status.repairs, stream);
  }
  // If a match reaches before its stream's beginning, which is known only once windows are, the piece is cut before that chunk and
  // resolved again. Two passes are enough. The second pass has the chunks before the first bad one, at the same places of the same
  // members. It has all of their symbols, or in the last chunk those up to its last confirmed end. So it sees only sources that the
  // first pass has seen, in the same places. None of them was before its stream, or its chunk would have been the first bad one.
  constexpr int kMostPasses = 2;
  std::uint32_t first_bad = kDeflateNone;
  for (int pass = 1;; ++pass) {
    chain_deflate_entries(work, first_bad, stream);
    status = read_status(work, piece.h_mailbox, stream);
    if (status.begins == 0) return std::nullopt;
    work.part_count = at_most(status.parts, limits.pages * kDeflatePageParts);
    work.chunk_count = status.chunks;
    work.member_count = status.members;
    resolve_deflate_chunks(work, status.content_bytes, stream);
    status = read_status(work, piece.h_mailbox, stream);
    if (status.bad_source == kDeflateNone) break;
    if (pass == kMostPasses)
      throw Error(Status::kDeviceFault,
                  "deflate_stream: a source is before its stream, but was not at first");
    first_bad = status.bad_source;
  }

  const std::uint64_t lead = lead_bits(piece.d_bytes);
  result.end_bits = status.end_bit - lead;
  result.content_bytes = status.content_bytes;
  result.ended = status.ended != 0;
  result.why = status.why;
  result.entries = work.entry_count;
  result.linked = status.chunks;
  const std::vector<std::uint32_t> checksums =
      read_array(work.d_checksums, std::size_t{work.member_count} + 1, piece.h_mailbox, stream);
  result.crc32 = checksums.back();
  if (work.member_count != 0) {
    const std::vector<DeflateMemberEnd> ends =
        read_array(work.d_members, work.member_count, piece.h_mailbox, stream);
    for (std::size_t i = 0; i < ends.size(); ++i)
      result.members.push_back({ends[i].end_bit - lead, ends[i].content_end,
                                ends[i].next_begin_bit == 0 ? 0 : ends[i].next_begin_bit - lead,
                                checksums[i]});
  }
  return result;
}

DeflatePieceResult restore_deflate_piece_cuda(const DeflatePieceInput& piece,
                                              const DeflatePieceLimits& limits, std::byte* d_output,
                                              std::size_t output_capacity, void* d_scratch,
                                              std::size_t scratch_bytes, cudaStream_t stream) {
  const DeflatePieceBegun begun = begin_deflate_piece_cuda(piece, limits, d_scratch, scratch_bytes, stream);
  const auto result = finish_deflate_piece_cuda(piece, begun, limits, d_output, output_capacity, d_scratch,
                                                scratch_bytes, stream);
  // The given beginning is a start.
  if (!result)
    throw Error(Status::kDeviceFault, "deflate_stream: the beginning of a piece is not among its starts");
  return *result;
}

}  // namespace hemstitch::cuda
