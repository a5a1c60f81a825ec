// From symbols to content: windows, then bytes, then checksums.
//
// A chunk's last 32,768 symbols are its map: for each place of the window after the chunk, a byte or a marker, which is a place of
// the window before it. Two maps are composed by looking up one in the other. Chunks are taken in groups. Each group's maps are
// composed, then those of all groups by a scan in steps that double; then every group's window is known, and each group goes over
// its chunks again, with bytes, and writes the last 32 KB of each. Now all windows are in the output, and everything else is
// resolved at once, by pages.
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "format/deflate/stream/deflate_stream_stages.cuh"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWindow = kDeflateWindowBytes;
constexpr unsigned kMapThreads = 1024, kResolveThreads = 256, kFoldThreads = 256;
constexpr unsigned kMapPairs = kWindow / 2 / kMapThreads;  // of a thread: symbols of both halves of a map
constexpr unsigned kTailLoads = 16;                        // of a thread at once
constexpr unsigned kScanParts = 4;                         // thread blocks a map

// Dynamic shared memory: a map, or two windows.
constexpr unsigned kMapBytes = kWindow * sizeof(std::uint16_t);
extern __shared__ __align__(16) std::uint8_t sh_maps[];

// The symbols at the places of the window after a chunk. If the chunk is shorter than a window, the rest comes from page 0: markers
// for bytes before the chunk.
class ChunkTail {
 public:
  __device__ ChunkTail(const DeflatePieceWork& work, const DeflateChunk& chunk)
      : at_(chunk.symbols % kDeflatePageSymbols),
        d_before_(work.d_symbols + std::size_t{chunk.place.before} * kDeflatePartSymbols),
        d_here_(work.d_symbols + std::size_t{chunk.place.here} * kDeflatePartSymbols) {}

  __device__ std::uint32_t operator[](unsigned place) const {
    const unsigned from = at_ + place;
    return from < kDeflatePageSymbols ? d_before_[from] : d_here_[from - kDeflatePageSymbols];
  }

 private:
  unsigned at_;
  const std::uint16_t *d_before_, *d_here_;
};

// The map of each group of chunks.
//
// Mapping: a thread block of 1024 a group. Shared memory: a map, 64 KB. Synchronisation: two barriers for half a chunk. Work: a window a chunk.
__global__ void __launch_bounds__(kMapThreads, 1)
    compose_maps(const DeflatePieceWork work, std::uint32_t per_group) {
  auto* sh_map = reinterpret_cast<std::uint16_t*>(sh_maps);
  if (threadIdx.x == 0) trace_mark(kTraceMapGroup, blockIdx.x * per_group);
  for (unsigned i = threadIdx.x; i < kWindow; i += kMapThreads)
    sh_map[i] = static_cast<std::uint16_t>(kDeflateMarker | i);
  __syncthreads();
  const std::uint32_t begin = blockIdx.x * per_group, end = min(work.chunk_count, begin + per_group);
  for (std::uint32_t c = begin; c < end; ++c) {
    const ChunkTail tail(work, work.d_chunks[c]);
    std::uint32_t pairs[kMapPairs];  // two symbols each
#pragma unroll
    for (unsigned i = 0; i < kMapPairs; ++i)
      pairs[i] = tail[i * kMapThreads + threadIdx.x] | tail[i * kMapThreads + threadIdx.x + kWindow / 2]
                                                           << 16;
#pragma unroll
    for (unsigned i = 0; i < kMapPairs; ++i) {
      if ((pairs[i] & (kDeflateMarker | kDeflateMarker << 16)) == 0) continue;
      std::uint32_t low = pairs[i] & 0xFFFF, high = pairs[i] >> 16;
      if ((low & kDeflateMarker) != 0) low = sh_map[low - kDeflateMarker];
      if ((high & kDeflateMarker) != 0) high = sh_map[high - kDeflateMarker];
      pairs[i] = low | high << 16;
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < kMapPairs; ++i) {
      sh_map[i * kMapThreads + threadIdx.x] = static_cast<std::uint16_t>(pairs[i]);
      sh_map[i * kMapThreads + threadIdx.x + kWindow / 2] = static_cast<std::uint16_t>(pairs[i] >> 16);
    }
    __syncthreads();
  }
  std::uint16_t* d_map = work.d_maps + std::size_t{blockIdx.x} * kWindow;
  for (unsigned i = threadIdx.x; i < kWindow; i += kMapThreads) d_map[i] = sh_map[i];
}

// Extends each map to twice as many groups: composes it with the map that ends `distance` groups before it.
__global__ void __launch_bounds__(kMapThreads)
    double_maps(const std::uint16_t* d_maps, std::uint16_t* d_further, std::uint32_t distance) {
  const std::uint32_t group = blockIdx.x / kScanParts, part = blockIdx.x % kScanParts;
  const std::uint16_t* d_map = d_maps + std::size_t{group} * kWindow;
  for (unsigned i = part * (kWindow / kScanParts) + threadIdx.x; i < (part + 1) * (kWindow / kScanParts);
       i += kMapThreads) {
    std::uint32_t symbol = d_map[i];
    if (group >= distance && (symbol & kDeflateMarker) != 0)
      symbol = (d_map - std::size_t{distance} * kWindow)[symbol - kDeflateMarker];
    d_further[std::size_t{group} * kWindow + i] = static_cast<std::uint16_t>(symbol);
  }
}

// The byte of the piece's window at this place of 32,768; 0 if the window is shorter.
__device__ std::uint32_t byte_of_window(const DeflatePieceWork& work, unsigned place) {
  const unsigned missing = kWindow - work.window_bytes;
  return place < missing ? 0 : work.d_window[place - missing];
}

// The first place of the window before a chunk that belongs to the chunk's member.
__device__ unsigned first_place(const DeflateChunk& chunk) {
  const std::int64_t first = chunk.member_begin - static_cast<std::int64_t>(chunk.begin) + kWindow;
  return first <= 0 ? 0 : first < kWindow ? static_cast<unsigned>(first) : kWindow;
}

// Writes the last 32 KB of each chunk.
//
// Mapping: a thread block of 1024 a group. Shared memory: two windows, 64 KB. Synchronisation: one barrier a chunk. Work: a window a chunk.
__global__ void __launch_bounds__(kMapThreads, 1)
    write_tails(const DeflatePieceWork work, const std::uint16_t* d_maps, std::uint32_t per_group) {
  const std::uint32_t begin = blockIdx.x * per_group, end = min(work.chunk_count, begin + per_group);
  if (threadIdx.x == 0) trace_mark(kTraceMapGroup, begin);
  for (unsigned i = threadIdx.x; i < kWindow; i += kMapThreads) {
    std::uint32_t symbol = kDeflateMarker | i;
    if (blockIdx.x != 0) symbol = d_maps[std::size_t{blockIdx.x - 1} * kWindow + i];
    if ((symbol & kDeflateMarker) != 0) symbol = byte_of_window(work, symbol - kDeflateMarker);
    sh_maps[i] = static_cast<std::uint8_t>(symbol);
  }
  __syncthreads();
  for (std::uint32_t c = begin; c < end; ++c) {
    const unsigned window = (c - begin) % 2 * kWindow;  // in sh_maps; the next one is in the other half
    const DeflateChunk& chunk = work.d_chunks[c];
    const ChunkTail tail(work, chunk);
    const unsigned first = first_place(chunk);
    const unsigned own =
        chunk.symbols < kWindow ? kWindow - chunk.symbols : 0;  // the first place that belongs to the chunk
    std::uint8_t* const d_tail =
        work.d_output + (static_cast<std::int64_t>(chunk.begin + chunk.symbols) - kWindow);
    bool bad = false;
#pragma unroll
    for (unsigned part = 0; part < kWindow; part += kTailLoads * kMapThreads) {
      std::uint32_t symbols[kTailLoads];
#pragma unroll
      for (unsigned i = 0; i < kTailLoads; ++i) symbols[i] = tail[part + i * kMapThreads + threadIdx.x];
#pragma unroll
      for (unsigned i = 0; i < kTailLoads; ++i) {
        const unsigned place = part + i * kMapThreads + threadIdx.x;
        std::uint32_t symbol = symbols[i];
        if ((symbol & kDeflateMarker) != 0) {
          symbol -= kDeflateMarker;
          bad |= place >= own && symbol < first;
          symbol = sh_maps[window + symbol];
        }
        sh_maps[kWindow - window + place] = static_cast<std::uint8_t>(symbol);
        if (place >= own) d_tail[place] = static_cast<std::uint8_t>(symbol);
      }
    }
    if (__syncthreads_or(bad ? 1 : 0) != 0 && threadIdx.x == 0) atomicMin(&work.d_status->bad_source, c);
  }
}

// Writes the part of a page that is before the last 32 KB of its chunk, and notes where its content is, for checksums.
//
// Mapping: a thread block a part of a page, of which the first ones have work. No shared memory, no synchronisation. Work: linear; a thread makes words of four bytes.
__global__ void __launch_bounds__(kResolveThreads) resolve_pages(const DeflatePieceWork work) {
  const std::uint32_t page = blockIdx.x;  // its first part
  const DeflatePageOwner owner = work.d_owners[page];
  std::uint32_t order = kDeflateNone;
  if (owner.entry != kDeflateNone && work.d_results[owner.entry].round == owner.round)
    order = work.d_orders[owner.entry];
  const std::uint32_t from = owner.ordinal * kDeflatePageSymbols;
  std::uint32_t symbols = 0;
  if (order < work.chunk_count) {
    const std::uint32_t of_chunk = work.d_chunks[order].symbols;
    symbols = of_chunk <= from ? 0 : min(of_chunk - from, kDeflatePageSymbols);
  }
  if (symbols == 0) {
    if (threadIdx.x == 0) {
      work.d_spans[page] = nullptr;
      work.d_span_bytes[page] = 0;
    }
    return;
  }
  const DeflateChunk& chunk = work.d_chunks[order];
  std::uint8_t* const d_output = work.d_output + chunk.begin + from;
  if (threadIdx.x == 0) {
    trace_mark(kTraceResolvePage, page);
    work.d_spans[page] = reinterpret_cast<const std::byte*>(d_output);
    work.d_span_bytes[page] = symbols;
  }
  if (chunk.symbols <= kWindow + from) return;
  const std::uint32_t count = min(chunk.symbols - kWindow - from, kDeflatePageSymbols);
  const std::uint16_t* d_symbols = work.d_symbols + std::size_t{page} * kDeflatePartSymbols;
  const unsigned first = first_place(chunk);
  bool bad = false;
  const auto resolved = [&](std::uint32_t symbol) -> std::uint32_t {
    if ((symbol & kDeflateMarker) == 0) return symbol;
    const unsigned place = symbol - kDeflateMarker;
    if (place < first) {
      bad = true;
      return 0;
    }
    const std::int64_t at = static_cast<std::int64_t>(chunk.begin) - kWindow + place;
    return at >= 0 ? work.d_output[at] : byte_of_window(work, static_cast<unsigned>(at + kWindow));
  };
  const std::uint32_t head =
      min(count, static_cast<std::uint32_t>((0 - reinterpret_cast<std::uintptr_t>(d_output)) % 4));
  const std::uint32_t words = (count - head) / 4, behind = head + 4 * words;
  if (threadIdx.x < head) d_output[threadIdx.x] = static_cast<std::uint8_t>(resolved(d_symbols[threadIdx.x]));
  if (threadIdx.x < count - behind)
    d_output[behind + threadIdx.x] = static_cast<std::uint8_t>(resolved(d_symbols[behind + threadIdx.x]));
  // Symbols are loaded in aligned pairs. If the first word's symbols are not aligned, each word's symbols are spread over three pairs.
  const auto* d_pairs = reinterpret_cast<const std::uint32_t*>(d_symbols) + head / 2;
  const unsigned shift = head % 2 * 16;
  auto* d_words = reinterpret_cast<std::uint32_t*>(d_output + head);
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < words; i += kResolveThreads) {
    const std::uint32_t a = d_pairs[2 * i], b = d_pairs[2 * i + 1], c = shift == 0 ? 0 : d_pairs[2 * i + 2];
    const std::uint32_t low = __funnelshift_r(a, b, shift), high = __funnelshift_r(b, c, shift);
    d_words[i] = ((low | high) & (kDeflateMarker | kDeflateMarker << 16)) == 0
                     ? __byte_perm(low, high, 0x6420)
                     : resolved(low & 0xFFFF) | resolved(low >> 16) << 8 | resolved(high & 0xFFFF) << 16 |
                           resolved(high >> 16) << 24;
  }
  if (bad) atomicMin(&work.d_status->bad_source, order);
}

constexpr std::uint32_t kCrcPolynomial = 0xEDB88320u;
// The product of polynomials; bit 31 is the coefficient of x^0.
__host__ __device__ constexpr std::uint32_t crc_product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (int bit = 31; bit >= 0; --bit) {
    if ((a >> bit & 1) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? kCrcPolynomial : 0);
  }
  return product;
}
// The factors that move a checksum over 2^i bytes.
constexpr unsigned kCrcPowers = 40;
struct CrcPowers {
  std::uint32_t powers[kCrcPowers];
};
constexpr CrcPowers make_powers() {
  CrcPowers made{};
  std::uint32_t power = 0x80000000u >> 8;
  for (unsigned i = 0; i < kCrcPowers; ++i) {
    made.powers[i] = power;
    power = crc_product(power, power);
  }
  return made;
}

// Adds each page's checksum to its member's, moved over the bytes after it in the member.
__global__ void __launch_bounds__(kFoldThreads)
    fold_checksums(const DeflatePieceWork work, const CrcPowers powers, std::uint64_t content_bytes) {
  const std::uint32_t page = blockIdx.x * kFoldThreads + threadIdx.x;
  if (page >= work.part_count || work.d_span_bytes[page] == 0) return;
  const DeflateChunk& chunk = work.d_chunks[work.d_orders[work.d_owners[page].entry]];
  const std::uint64_t end =
      chunk.member < work.member_count ? work.d_members[chunk.member].content_end : content_bytes;
  std::uint64_t behind = end - chunk.begin -
                         work.d_owners[page].ordinal * std::uint64_t{kDeflatePageSymbols} -
                         work.d_span_bytes[page];
  std::uint32_t checksum = work.d_span_checksums[page];
  for (unsigned i = 0; behind != 0; ++i, behind >>= 1)
    if ((behind & 1) != 0) checksum = crc_product(checksum, powers.powers[i]);
  atomicXor(work.d_checksums + chunk.member, checksum);
}

constexpr KernelBudget kComposeBudget(
    "deflate_stream.compose_maps", "compose_maps",
    {.threads = kMapThreads, .dynamic_shared_bytes = kMapBytes, .registers = 64, .shared_bytes = kMapBytes});
constexpr KernelBudget kDoubleBudget("deflate_stream.double_maps", "double_maps",
                                     {.threads = kMapThreads, .registers = 32});
constexpr KernelBudget kTailsBudget(
    "deflate_stream.write_tails", "write_tails",
    {.threads = kMapThreads, .dynamic_shared_bytes = kMapBytes, .registers = 64, .shared_bytes = kMapBytes});
constexpr KernelBudget kResolveBudget("deflate_stream.resolve_pages", "resolve_pages",
                                      {.threads = kResolveThreads, .registers = 64});
constexpr KernelBudget kFoldBudget("deflate_stream.fold_checksums", "fold_checksums",
                                   {.threads = kFoldThreads, .registers = 40});
const KernelRegistration kComposeRegistration(kComposeBudget, compose_maps);
const KernelRegistration kDoubleRegistration(kDoubleBudget, double_maps);
const KernelRegistration kTailsRegistration(kTailsBudget, write_tails);
const KernelRegistration kResolveRegistration(kResolveBudget, resolve_pages);
const KernelRegistration kFoldRegistration(kFoldBudget, fold_checksums);

}  // namespace

void resolve_deflate_chunks(const DeflatePieceWork& work, std::uint64_t content_bytes, cudaStream_t stream) {
  check(cudaMemsetAsync(work.d_checksums, 0, (std::size_t{work.member_count} + 1) * sizeof *work.d_checksums,
                        stream),
        "deflate_stream");
  const std::uint32_t groups_at_most =
      work.chunk_count < kDeflateWindowGroups ? work.chunk_count : kDeflateWindowGroups;
  const std::uint32_t per_group = (work.chunk_count + groups_at_most - 1) / groups_at_most;
  const std::uint32_t groups = (work.chunk_count + per_group - 1) / per_group;
  launch({.kernel = kComposeBudget, .grid = groups, .stream = stream}, compose_maps, work, per_group);
  const std::uint16_t* d_maps = work.d_maps;
  std::uint16_t *d_from = work.d_maps, *d_to = work.d_further_maps;
  for (std::uint32_t distance = 1; distance < groups; distance *= 2) {
    launch({.kernel = kDoubleBudget, .grid = groups * kScanParts, .stream = stream}, double_maps, d_from,
           d_to, distance);
    d_maps = d_to;
    d_to = d_from;
    d_from = const_cast<std::uint16_t*>(d_maps);
  }
  launch({.kernel = kTailsBudget, .grid = groups, .stream = stream}, write_tails, work, d_maps, per_group);
  launch({.kernel = kResolveBudget, .grid = work.part_count, .stream = stream}, resolve_pages, work);
  crc32_spans_cuda(work.d_spans, work.d_span_bytes, work.part_count, work.d_span_checksums, stream);
  static constexpr CrcPowers kPowers = make_powers();
  launch({.kernel = kFoldBudget, .grid = work.part_count / kFoldThreads + 1, .stream = stream},
         fold_checksums, work, kPowers, content_bytes);
}

}  // namespace hemstitch::cuda
