// The steps of restoring a piece of one DEFLATE stream (deflate_stream_cuda.hpp), in their order, and what they hand on. For the .cu files that are
// these steps.
//
//   find_starts       bits --> starts: where blocks, stored blocks' bodies and members may begin
//   make_entries      starts --> entries: those, and places in the middle of long blocks
//   restore_entries   entries --> symbols of 16 bits, in pages, and where each entry ended
//   chain_entries     ends --> chunks: the entries that the piece's beginning leads to, in order
//   resolve_chunks    chunks and symbols --> content, checksums
//
// Bits are counted from the aligned word in which the piece begins (DeflateStream).
#pragma once

#include <cuda_runtime.h>

#include "format/deflate/block/deflate_symbols.hpp"
#include "format/deflate/restore/deflate_stream.cuh"
#include "format/deflate/stream/deflate_stream_cuda.hpp"
#include "format/deflate/stream/deflate_stream_tuning_cuda.hpp"

namespace hemstitch::cuda {

inline constexpr std::uint32_t kDeflateNone = ~0u;
inline constexpr std::uint64_t kDeflateNoBit = ~std::uint64_t{0};
inline constexpr std::uint32_t kDeflatePageSymbols =
    32768;  // as many as a window: a source is in this page or the one before
static_assert(kDeflatePageSymbols == kDeflateWindowBytes);
// Memory for symbols is counted in parts of pages. Since entries may be short, an entry's first page is only one part until it needs more.
inline constexpr std::uint32_t kDeflatePartSymbols = 4096,
                               kDeflatePageParts = kDeflatePageSymbols / kDeflatePartSymbols;

// A symbol with this bit is a marker: it stands for the byte at a place of the window before the entry, which the lower bits tell.
inline constexpr std::uint32_t kDeflateMarker = 0x8000;

// What may begin at a bit. A key is bit << 2 | kind, so the order of keys is that of the stream.
enum class DeflateStartKind : std::uint32_t {
  kBlock = 0,   // a block with codes of its own, not the last one
  kStored = 1,  // a stored block, not the last one: the bit of its size
  kKnown =
      2,  // any block before which the window is known: at the piece's beginning, and the first blocks of members
  kFixed = 3,  // a place that may be in the middle of a block with the fixed code
};
inline constexpr std::uint64_t kDeflateFlatKey = std::uint64_t{1}
                                                 << 63;  // beside a key: its code hardly synchronises
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t deflate_key(std::uint64_t bit, DeflateStartKind kind) {
  return bit << 2 | static_cast<std::uint32_t>(kind);
}
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t deflate_key_bit(std::uint64_t key) {
  return (key & ~kDeflateFlatKey) >> 2;
}
HEMSTITCH_HOST_DEVICE constexpr DeflateStartKind deflate_key_kind(std::uint64_t key) {
  return static_cast<DeflateStartKind>(key & 3);
}
inline constexpr int kDeflateKeyBits = 36;  // of a piece of kDeflateMostPieceBytes
static_assert((std::uint64_t{kDeflateMostPieceBytes} + 4) * 8 < std::uint64_t{1} << (kDeflateKeyBits - 2));

enum class DeflateEntryKind : std::uint32_t {
  kBlock,
  kStored,
  kKnown,
  kMiddle,  // of the block whose header is at `header`: from the first token at or after `bit`
  kPhase,   // likewise, from `bit` exactly
  kFixed,   // of a block with the fixed code: from the first token at or after `bit`
};

struct DeflateStreamEntry {
  std::uint64_t bit, header;
  DeflateEntryKind kind;
  std::uint32_t phase;  // of kPhase: bits after the place that its kDeflateEntryPhases entries share
  std::uint32_t start;  // the number of the start that it belongs to
};

enum class DeflateEntryEnd : std::uint32_t {
  kLinked,   // `next` begins right here
  kInBlock,  // `next` begins in the middle of this block, right here if its claim says so
  kStream,   // the stream ended; `next` is the next member's entry, if there is one
  // The others say why the entry did not go on: see DeflatePieceEnd.
  kInput,
  kUnsound,
  kMemory,
  kGivenUp,
};

// The pages that hold the symbols before a place: the page that it is in, and the one before. Pages are named by their first part.
struct DeflatePagePlace {
  std::uint32_t before, here;
};

struct DeflateEntryResult {
  std::uint64_t end_bit;
  std::uint64_t
      sound_bit;  // after the last block that it restored wholly, or where it began, if that was a block; kDeflateNoBit: neither
  std::uint64_t
      member_begin;  // of kStream: where the next member's first block begins; 0: no header was found
  std::uint32_t symbols, sound_symbols;
  DeflatePagePlace place, sound_place;  // behind these
  std::uint32_t next;
  DeflateEntryEnd end;
  std::uint32_t round;
  bool counted;  // its symbols are only counted, not written
};

// The entry whose symbols are in a page, stored at the number of its first part. kDeflateNone: the page is free, or this is not a
// first part.
struct DeflatePageOwner {
  std::uint32_t entry, ordinal, round;
};

// An entry that is part of the content.
struct DeflateChunk {
  std::uint64_t begin;  // of its content
  std::int64_t
      member_begin;  // where its member's content begins: no source is before that; below 0: in the piece's window
  std::uint32_t symbols;
  std::uint32_t entry;
  std::uint32_t member;
  DeflatePagePlace place;
};

// Counters of a piece, read back by the host.
struct DeflateStreamStatus {
  std::uint32_t candidates, starts, entries;
  std::uint32_t parts;  // of pages that are in use
  std::uint32_t repairs;
  std::uint32_t begins;     // 1: an entry begins where the piece does
  std::uint32_t chunks;     // on the chain
  std::uint32_t first_bad;  // the first chunk that nothing follows; kDeflateNone: there is none
  std::uint32_t end_chunk;  // one more than the last chunk with a confirmed end; then what is confirmed of it
  std::uint32_t
      bad_source;  // the first chunk in which a source is before its member; kDeflateNone: there is none
  DeflatePieceEnd why;
  std::uint32_t members;  // before end_chunk
  std::uint32_t ended;    // the last chunk ended its stream
  std::uint64_t content_bytes;
  std::uint64_t end_bit;
};

// Running sums over entries.
struct DeflateChainSum {
  std::uint64_t symbols;
  std::uint64_t member_begin;  // where the last member ended, counted from the first entry of the sum
  std::uint32_t chunks, members;
};

struct DeflateMemberEnd {
  std::uint64_t end_bit, content_end, next_begin_bit;
};

// All that belongs to a piece: what the host sets, and arrays in scratch memory.
struct DeflatePieceWork {
  DeflateStream stream;  // all of the piece; no output
  std::uint64_t begin_bit;
  const std::uint8_t* d_window;
  std::uint32_t window_bytes;
  bool members;
  std::uint8_t* d_output;
  std::uint64_t output_capacity;
  DeflatePieceLimits limits;

  DeflateStreamStatus* d_status;
  std::uint64_t *d_candidates, *d_found, *d_sorted, *d_keys;
  std::uint32_t *d_entry_counts, *d_first_entries;  // of each start, and one more
  DeflateStreamEntry* d_entries;
  DeflateEntryResult* d_results;
  std::uint64_t *d_claims,
      *d_forced;  // of each entry: the bit of its first token; the bit where a repair makes it begin
  std::uint32_t* d_repairs;
  std::uint32_t *d_jumps, *d_further_jumps;
  std::uint8_t* d_reached;
  DeflateChainSum *d_sums, *d_offsets;
  std::uint32_t* d_orders;  // of each entry: which chunk it is
  DeflateChunk* d_chunks;
  DeflateMemberEnd* d_members;
  std::uint16_t* d_symbols;  // page 0 holds all markers
  DeflatePageOwner* d_owners;
  const std::byte** d_spans;  // of each part: its page's content
  std::size_t* d_span_bytes;
  std::uint32_t *d_span_checksums, *d_checksums;  // of parts; of members, and of what follows the last one
  std::uint16_t *d_maps, *d_further_maps;         // of groups of chunks, a window each
  std::byte* d_cub;
  std::size_t cub_bytes;

  // Counts that the host has read back.
  std::uint32_t start_count, entry_count, part_count, chunk_count, member_count;
};

// The number of the first key from `key` on.
__device__ inline std::uint32_t first_key_from(const std::uint64_t* d_keys, std::uint32_t count,
                                               std::uint64_t key) {
  std::uint32_t low = 0, high = count;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (d_keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Each of these puts its kernels on the stream. Afterwards d_status has the numbers of starts, entries and parts. A number may be
// above its limit; the rest was left out.
void find_deflate_starts(const DeflatePieceWork& work, cudaStream_t stream);
void make_deflate_entries(const DeflatePieceWork& work, cudaStream_t stream);
// `repair_count` 0: all entries; else those listed in d_repairs.
void restore_deflate_entries(const DeflatePieceWork& work, std::uint32_t round, std::uint32_t repair_count,
                             cudaStream_t stream);
// Finds the entries to which the beginning leads, assuming that links in the middle of blocks are right. Lists as repairs those
// that are not, and entries whose symbols were only counted.
void follow_deflate_entries(const DeflatePieceWork& work, cudaStream_t stream);
// Makes chunks of confirmed entries; of none from `first_bad` on.
void chain_deflate_entries(const DeflatePieceWork& work, std::uint32_t first_bad, cudaStream_t stream);
// `content_bytes`: of all chunks.
void resolve_deflate_chunks(const DeflatePieceWork& work, std::uint64_t content_bytes, cudaStream_t stream);

// Scratch memory of CUB, for the most starts and entries.
std::size_t deflate_starts_cub_bytes(const DeflatePieceLimits& limits);
std::size_t deflate_chain_cub_bytes(const DeflatePieceLimits& limits);

}  // namespace hemstitch::cuda
