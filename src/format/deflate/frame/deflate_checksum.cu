// CRC-32 as RFC 1952, section 8, has it, and Adler-32 as RFC 1950, section 8.
//
// Mapping. A warp a span; thread blocks of eight warps go over all spans. Lane j has the words j, j + 32, ... of the span's aligned
// words. Up to three bytes before and behind them are added separately, and for Adler-32 so are the words of a last row that is not
// full. No byte outside a span is read.
//
// CRC-32. A checksum is a polynomial's remainder. Earlier bytes add their remainder, moved over all bytes after them. So a lane's
// remainder is moved over a row of 128 bytes, by one table for each of its four bytes, and the lane's next word is added. At the
// end the lanes' remainders are combined from the first one on, each moved over the word of the next lane. Rows are counted back
// from the last word, so the last row is full. Lanes without a word in the first row add zeros, which change nothing. The bytes
// before the words, and the initial value, are added to the first word.
//
// Adler-32. Of n bytes, the second sum counts byte i n - i times. Over its words a lane sums up the bytes, the bytes times their
// places in the word, and, once a row, the sum so far, which weights each byte by the number of rows after it. All else follows
// from these.
//
// Shared memory: CRC-32 8 KB, made anew by each thread block of 64 numbers. Synchronisation: one barrier, then none but shuffles. Work: four
// loads from tables for each word. CPU twin: libdeflate's crc32 and adler32 (format/checksum.hpp).
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 256, kWarps = kThreads / 32;
constexpr unsigned kBlocksPerMultiprocessor = 8;
// More thread blocks than any device holds at once; each goes over its spans.
constexpr std::uint64_t kMostThreadBlocks = 256 * kBlocksPerMultiprocessor;

constexpr std::uint32_t kCrcPolynomial = 0xEDB88320u;
constexpr unsigned kRowBytes = 32 * 4;

// What each bit of a remainder becomes when it is moved.
struct CrcMoves {
  std::uint32_t over_row[32];   // over 128 bytes
  std::uint32_t over_word[32];  // over 4
};

constexpr std::uint32_t moved(std::uint32_t remainder, unsigned bytes) {
  for (unsigned bit = 0; bit < 8 * bytes; ++bit)
    remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? kCrcPolynomial : 0);
  return remainder;
}

constexpr CrcMoves make_moves() {
  CrcMoves moves{};
  for (unsigned bit = 0; bit < 32; ++bit) {
    moves.over_row[bit] = moved(1u << bit, kRowBytes);
    moves.over_word[bit] = moved(1u << bit, 4);
  }
  return moves;
}

// For each value of each byte of a remainder, what it becomes when it is moved.
struct CrcTables {
  std::uint32_t row[4][256];
  std::uint32_t word[4][256];
};

__device__ std::uint32_t look_up(const std::uint32_t (&table)[4][256], std::uint32_t remainder) {
  return table[0][remainder & 0xFF] ^ table[1][remainder >> 8 & 0xFF] ^ table[2][remainder >> 16 & 0xFF] ^
         table[3][remainder >> 24];
}

// The bytes of a span: those before its aligned words, the words, and those behind.
struct SpanWords {
  const unsigned char* bytes;
  std::size_t size;
  std::uint32_t head_bytes;
  std::uint64_t word_count;
  const std::uint32_t* words;

  __device__ SpanWords(const std::byte* span, std::size_t span_bytes)
      : bytes(reinterpret_cast<const unsigned char*>(span)), size(span_bytes) {
    head_bytes = static_cast<std::uint32_t>((0 - reinterpret_cast<std::uintptr_t>(span)) % 4);
    if (head_bytes > size) head_bytes = static_cast<std::uint32_t>(size);
    word_count = (size - head_bytes) / 4;
    words = reinterpret_cast<const std::uint32_t*>(bytes + head_bytes);
  }
  __device__ std::size_t tail() const { return head_bytes + 4 * word_count; }
};

__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    crc32_spans(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                const CrcMoves moves, std::uint32_t* d_checksums) {
  __shared__ CrcTables tables;
  for (unsigned i = threadIdx.x; i < 4 * 256; i += kThreads) {
    std::uint32_t row = 0, word = 0;
#pragma unroll
    for (unsigned bit = 0; bit < 8; ++bit)
      if ((i >> bit & 1) != 0) {
        row ^= moves.over_row[i / 256 * 8 + bit];
        word ^= moves.over_word[i / 256 * 8 + bit];
      }
    tables.row[i / 256][i % 256] = row;
    tables.word[i / 256][i % 256] = word;
  }
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const auto add_byte = [&](std::uint32_t remainder, std::uint32_t byte) {
    return remainder >> 8 ^ tables.word[3][(remainder ^ byte) & 0xFF];
  };

  for (std::uint64_t index = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32; index < count;
       index += std::uint64_t{gridDim.x} * kWarps) {
    if (lane == 0) trace_mark(kTraceDeflateChecksum, static_cast<std::uint32_t>(index));
    const SpanWords span(d_spans[index], d_sizes[index]);
    std::uint32_t before = ~std::uint32_t{0};
    for (std::uint32_t i = 0; i < span.head_bytes; ++i) before = add_byte(before, span.bytes[i]);

    if (span.word_count != 0) {
      // Rows end with the last word: in the first row, some lanes at its beginning may have none.
      const std::uint64_t row_count = (span.word_count + 31) / 32;
      const auto missing = static_cast<std::uint32_t>(32 * row_count - span.word_count);
      std::uint32_t remainder = 0;
      if (lane >= missing) remainder = __ldg(span.words + lane - missing);
      if (lane == missing) remainder ^= before;
      const std::uint32_t* own = span.words + lane + 32 - missing;
      std::uint64_t row = 1;
      constexpr unsigned kBatch = 4;
      for (; row + kBatch <= row_count; row += kBatch, own += 32 * kBatch) {
        std::uint32_t loaded[kBatch];
#pragma unroll
        for (unsigned i = 0; i < kBatch; ++i) loaded[i] = __ldg(own + 32 * i);
#pragma unroll
        for (unsigned i = 0; i < kBatch; ++i) remainder = look_up(tables.row, remainder) ^ loaded[i];
      }
      for (; row < row_count; ++row, own += 32) remainder = look_up(tables.row, remainder) ^ __ldg(own);
      before = 0;
      for (unsigned from = 0; from < 32; ++from)
        before = look_up(tables.word, before ^ __shfl_sync(~0u, remainder, static_cast<int>(from)));
    }
    for (std::size_t i = span.tail(); i < span.size; ++i) before = add_byte(before, span.bytes[i]);
    if (lane == 0) d_checksums[index] = ~before;
  }
}

constexpr std::uint32_t kAdlerModulus = 65521;
// The number of rows whose sums fit 32 bits: a sum grows by at most 4 * 255 a row, and the sum of sums by that sum.
constexpr std::uint32_t kAdlerRows = 1024;
static_assert(std::uint64_t{kAdlerModulus} +
                  kAdlerRows * (kAdlerModulus + std::uint64_t{kAdlerRows} * 4 * 255) <
              std::uint64_t{1} << 32);

__device__ std::uint64_t sum_of_lanes(std::uint64_t value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__global__ void __launch_bounds__(kThreads)
    adler32_spans(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                  std::uint32_t* d_checksums) {
  const unsigned lane = threadIdx.x % 32;
  for (std::uint64_t index = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32; index < count;
       index += std::uint64_t{gridDim.x} * kWarps) {
    if (lane == 0) trace_mark(kTraceDeflateChecksum, static_cast<std::uint32_t>(index));
    const SpanWords span(d_spans[index], d_sizes[index]);
    const std::uint64_t row_count = span.word_count / 32;
    // Sums over this lane's words in full rows: the bytes, the bytes times their places in the word, and the sums of the rows
    // before, added once a row.
    std::uint32_t bytes = 0, places = 0, sums = 0;
    for (std::uint64_t row = 0; row < row_count;) {
      const std::uint64_t end = min(row_count, row + kAdlerRows);
#pragma unroll 4
      for (; row < end; ++row) {
        const std::uint32_t word = __ldg(span.words + 32 * row + lane);
        sums += bytes;
        bytes = __dp4a(word, 0x01010101u, bytes);
        places = __dp4a(word, 0x03020100u, places);
      }
      bytes %= kAdlerModulus;
      places %= kAdlerModulus;
      sums %= kAdlerModulus;
    }
    // A byte of row r and place p counts n - (head + 128 r + 4 lane + p) times; `sums` has it (rows - 1 - r) times.
    const auto left_of = [&](std::uint64_t before) { return (span.size - before) % kAdlerModulus; };
    std::uint64_t first = bytes, second = 0;
    if (row_count != 0)
      second = left_of(span.head_bytes + 4 * lane + kRowBytes * (row_count - 1)) * bytes +
               kRowBytes * std::uint64_t{sums} + (kAdlerModulus - places);
    const auto add_byte = [&](std::uint64_t at) {
      const std::uint64_t byte = span.bytes[at];
      first += byte;
      second += left_of(at) * byte;
    };
    if (lane < span.head_bytes) add_byte(lane);
    if (32 * row_count + lane < span.word_count)
      for (unsigned i = 0; i < 4; ++i) add_byte(span.head_bytes + kRowBytes * row_count + 4 * lane + i);
    if (span.tail() + lane < span.size) add_byte(span.tail() + lane);
    first = sum_of_lanes(first);
    second = sum_of_lanes(second);
    if (lane == 0)
      d_checksums[index] = static_cast<std::uint32_t>((second + span.size) % kAdlerModulus << 16 |
                                                      (first + 1) % kAdlerModulus);
  }
}

constexpr KernelBudget kCrcBudget("deflate.crc32_spans", "crc32_spans",
                                  {.threads = kThreads, .registers = 32, .shared_bytes = sizeof(CrcTables)});
constexpr KernelBudget kAdlerBudget("deflate.adler32_spans", "adler32_spans",
                                    {.threads = kThreads, .registers = 48});
const KernelRegistration kCrcRegistration(kCrcBudget, crc32_spans);
const KernelRegistration kAdlerRegistration(kAdlerBudget, adler32_spans);

unsigned grid_of(std::uint64_t count) {
  const std::uint64_t needed = (count + kWarps - 1) / kWarps;
  return static_cast<unsigned>(needed < kMostThreadBlocks ? needed : kMostThreadBlocks);
}

}  // namespace

void crc32_spans_cuda(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                      std::uint32_t* d_checksums, cudaStream_t stream) {
  static constexpr CrcMoves kMoves = make_moves();
  launch({.kernel = kCrcBudget, .grid = grid_of(count), .stream = stream}, crc32_spans, d_spans, d_sizes,
         count, kMoves, d_checksums);
}

void adler32_spans_cuda(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                        std::uint32_t* d_checksums, cudaStream_t stream) {
  launch({.kernel = kAdlerBudget, .grid = grid_of(count), .stream = stream}, adler32_spans, d_spans, d_sizes,
         count, d_checksums);
}

}  // namespace hemstitch::cuda
