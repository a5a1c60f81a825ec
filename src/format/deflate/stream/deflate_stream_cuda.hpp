// Restores a piece of one DEFLATE stream on a CUDA device, in parallel: does what
// `deflate_parallel_decoder.hpp` does on cores, on thousands of warps. docs/formats/gzip-in-parallel.md
// explains how.
//
// The piece begins where a block begins, with a known window. What is returned is confirmed from there on,
// block by block; no guess is ever returned. Nothing here judges damage: a piece ends at the end of the last
// confirmed block. The caller restores from there in the plain way and meets whatever ended it. The piece
// also ends early if the device gives up: memory for symbols is full, an entry exceeds its share of work, or
// a guess in the middle of a block stays wrong.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace hemstitch::cuda {

struct DeflatePieceInput {
  const std::byte* d_bytes = nullptr;   // of any alignment; nothing outside them is read
  std::size_t bytes = 0;                // at most kDeflateMostPieceBytes
  std::uint64_t begin_bits = 0;         // where a block begins
  const std::byte* d_window = nullptr;  // the content before, its last byte last
  std::uint32_t window_bytes = 0;       // at most 32768; less only if the stream begins there
  // Members of a gzip file may follow each other in the piece: at the end of a stream, a trailer and
  // another header may follow.
  bool members = false;
  // kDeflateMailboxBytes of pinned memory, through which the host receives what it waits for. Null: it uses
  // copies, and each of these waits for all larger transfers from the device.
  std::byte* h_mailbox = nullptr;
};
inline constexpr std::size_t kDeflateMostPieceBytes = std::size_t{1} << 30;
inline constexpr std::size_t kDeflateMailboxBytes = 1024;

// A stream that ended inside the piece.
struct DeflatePieceMember {
  std::uint64_t end_bits;     // after its last block
  std::uint64_t content_end;  // in the piece's content
  std::uint64_t
      next_begin_bits;  // of the next member's first block; 0: no header was found after its trailer
  std::uint32_t crc32;  // of its content in this piece
};

// Why a piece ends where it does.
enum class DeflatePieceEnd {
  kStream,   // the last stream that was entered has ended
  kInput,    // the next block is not completely in the input
  kUnsound,  // the next block is not valid for the device, or a match refers too far back
  kRoom,     // the next block's content does not fit into the output
  kMemory,   // there is no more scratch memory for symbols
  kGivenUp,  // the next block's warp exceeded its share of work, or guesses inside a block stayed wrong
};

struct DeflatePieceResult {
  std::uint64_t end_bits =
      0;  // after the last confirmed block. A block begins here, unless the stream has `ended`
  std::uint64_t content_bytes = 0;  // in the output
  bool ended = false;               // the last stream that was entered ended at end_bits
  std::vector<DeflatePieceMember>
      members;              // that ended inside the piece, in order; if `ended`, the last of them did
  std::uint32_t crc32 = 0;  // of the content after the last of these members
  DeflatePieceEnd why = DeflatePieceEnd::kStream;

  // For reports and benchmarks: how many entries (places where warps begin) became part of the content, and
  // how many were decoded again.
  std::uint32_t entries = 0, linked = 0, repaired = 0;
};

// Limits of memory and work. The defaults follow from the sizes; tests make them tiny.
struct DeflatePieceLimits {
  std::uint32_t candidates = 0;  // positions that pass the first filter; later ones are ignored
  std::uint32_t starts = 0;      // beginnings of blocks and members that are found
  std::uint32_t entries = 0;     // places where a warp begins
  std::uint32_t pages = 0;       // of 32,768 symbols of 2 bytes each
  std::uint32_t spacing_bytes =
      0;  // compressed, between entries in the middle of a block; a multiple of 4, at least kDeflateLeastSpacing
  std::uint64_t entry_bytes = 0;   // compressed; the most for one warp
  std::uint32_t entry_blocks = 0;  // the most for one warp
  std::uint32_t repairs = 0;       // the most rounds of repairs; at least 1
};
inline constexpr std::uint32_t kDeflateLeastSpacing = 2048;

// Copies with a kernel between device memory and pinned host memory: an ordinary copy would wait for larger
// transfers.
void copy_few_bytes_cuda(void* to, const void* from, std::size_t bytes, cudaStream_t stream);

DeflatePieceLimits deflate_piece_limits(std::size_t piece_bytes, std::size_t output_bytes);

std::size_t restore_deflate_piece_cuda_scratch_bytes(const DeflatePieceLimits& limits);

// A piece in two parts, for callers that have the bytes before they know the link. begin_deflate_piece_cuda()
// does most of the work and needs neither the link nor the window: it finds starts and restores to symbols
// from each of them. For it, begin_bits is any place before the block to find, and d_window is not read.
struct DeflatePieceBegun {
  std::uint32_t starts = 0, entries = 0;
};
DeflatePieceBegun begin_deflate_piece_cuda(const DeflatePieceInput& piece, const DeflatePieceLimits& limits,
                                           void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);
// Restores the piece to d_output, of any alignment. Needs the same bytes, limits and scratch, which must not
// have been used meanwhile, and the link, which is known now. Call it once. Nothing if no start was found at
// begin_bits, for example where a stored block or one with the fixed codes begins; then begin the piece again
// from there. The bytes of d_output after the confirmed content are undefined.
std::optional<DeflatePieceResult> finish_deflate_piece_cuda(const DeflatePieceInput& piece,
                                                            const DeflatePieceBegun& begun,
                                                            const DeflatePieceLimits& limits,
                                                            std::byte* d_output, std::size_t output_capacity,
                                                            void* d_scratch, std::size_t scratch_bytes,
                                                            cudaStream_t stream);

// Does both. All work goes to `stream`, which is waited for several times; nothing is allocated on the
// device. Throws kInvalidOption for sizes above the limits and for too little scratch, and errors of the
// device.
DeflatePieceResult restore_deflate_piece_cuda(const DeflatePieceInput& piece,
                                              const DeflatePieceLimits& limits, std::byte* d_output,
                                              std::size_t output_capacity, void* d_scratch,
                                              std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
