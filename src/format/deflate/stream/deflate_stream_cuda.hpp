// Restoring a piece of one DEFLATE stream on a CUDA device, in parallel: what `deflate_parallel_decoder.hpp` does on cores, on thousands of
// warps. docs/formats/gzip-in-parallel.md explains the way.
//
// The piece begins where a block begins, with a known window. What is given back is confirmed from there on, block by block: a guess never
// shows. Damage is judged by nobody here; a piece ends at the end of the last block that is confirmed, and the caller, who
// restores from there by the plain way, meets whatever ended it. It also ends before its data does where the device's way gives up: memory for symbols is full, an entry
// does more than its share of work, a guess in the middle of a block stays wrong.
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
  std::uint32_t window_bytes = 0;       // at most 32768; less only where the stream begins there
  // Members of a gzip file may follow each other in the piece: where a stream ends, a trailer and another header may stand.
  bool members = false;
  // kDeflateMailboxBytes of pinned memory, through which the host learns what it waits for; null: by copies, each of which waits for all larger ones that are on
  // their way from the device.
  std::byte* h_mailbox = nullptr;
};
inline constexpr std::size_t kDeflateMostPieceBytes = std::size_t{1} << 30;
inline constexpr std::size_t kDeflateMailboxBytes = 1024;

// A stream that ended inside the piece.
struct DeflatePieceMember {
  std::uint64_t end_bits;     // behind its last block
  std::uint64_t content_end;  // in the piece's content
  std::uint64_t
      next_begin_bits;  // where the next member's first block begins; 0: no header was found behind its trailer
  std::uint32_t crc32;  // of its content in this piece
};

// Why a piece ends where it does.
enum class DeflatePieceEnd {
  kStream,   // the last stream that was entered has ended
  kInput,    // the next block is not in the input as a whole
  kUnsound,  // what follows is no sound block for the device's way, or a match reaches back too far
  kRoom,     // the next block's content does not fit the output
  kMemory,   // there is no more scratch memory for symbols
  kGivenUp,  // the next block's warp had done its share of work, or guesses inside of a block did not become right
};

struct DeflatePieceResult {
  std::uint64_t end_bits =
      0;  // behind the last confirmed block. A block begins here, unless the stream has `ended`
  std::uint64_t content_bytes = 0;  // in the output
  bool ended = false;               // the last stream that was entered ended at end_bits
  std::vector<DeflatePieceMember>
      members;  // that ended inside the piece, in order; where `ended`, the last of them is the one that did
  std::uint32_t crc32 = 0;  // of the content behind the last of these members
  DeflatePieceEnd why = DeflatePieceEnd::kStream;

  // For reports and benchmarks: of entries (warps' places to begin), those that became part of the content, and those decoded again.
  std::uint32_t entries = 0, linked = 0, repaired = 0;
};

// Bounds of memory and work. The defaults follow from the sizes; tests make them tiny.
struct DeflatePieceLimits {
  std::uint32_t candidates = 0;  // positions that pass the first filter; those beyond are not looked at
  std::uint32_t starts = 0;      // of blocks and members that are found
  std::uint32_t entries = 0;     // places where a warp begins
  std::uint32_t pages = 0;       // of 32,768 symbols of 2 bytes each
  std::uint32_t spacing_bytes =
      0;  // compressed, between entries in the middle of a block; a multiple of 4, at least kDeflateLeastSpacing
  std::uint64_t entry_bytes = 0;   // compressed, that one warp restores
  std::uint32_t entry_blocks = 0;  // that one warp restores
  std::uint32_t repairs = 0;       // rounds of them
};
inline constexpr std::uint32_t kDeflateLeastSpacing = 2048;

// By a kernel, between memory of the device and pinned memory of the host: a copy would wait for the larger ones that are on their way.
void copy_few_bytes_cuda(void* to, const void* from, std::size_t bytes, cudaStream_t stream);

DeflatePieceLimits deflate_piece_limits(std::size_t piece_bytes, std::size_t output_bytes);

std::size_t restore_deflate_piece_cuda_scratch_bytes(const DeflatePieceLimits& limits);

// A piece in two parts, for who has the bytes before knowing the link. What begin_deflate_piece_cuda() does, which is most of it, needs neither the link nor
// the window: it finds starts and restores to symbols from each of them. There begin_bits is any place before the block that is to be found, and d_window is not read.
struct DeflatePieceBegun {
  std::uint32_t starts = 0, entries = 0;
};
DeflatePieceBegun begin_deflate_piece_cuda(const DeflatePieceInput& piece, const DeflatePieceLimits& limits,
                                           void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);
// Restores the piece to d_output, of any alignment: the same bytes, with the same limits and scratch, which nobody used meanwhile, and with the link as it is now known. Once.
// Nothing where no start was found at begin_bits, as where a stored block or one with the fixed code begins there; the piece is then to be begun again from there. What
// stands in d_output behind the content that is confirmed is undefined.
std::optional<DeflatePieceResult> finish_deflate_piece_cuda(const DeflatePieceInput& piece,
                                                            const DeflatePieceBegun& begun,
                                                            const DeflatePieceLimits& limits,
                                                            std::byte* d_output, std::size_t output_capacity,
                                                            void* d_scratch, std::size_t scratch_bytes,
                                                            cudaStream_t stream);

// Both. Everything is put on `stream`, which is waited for several times;
// nothing is allocated on the device. Throws kInvalidOption for sizes above the limits and too little scratch, and errors of the device.
DeflatePieceResult restore_deflate_piece_cuda(const DeflatePieceInput& piece,
                                              const DeflatePieceLimits& limits, std::byte* d_output,
                                              std::size_t output_capacity, void* d_scratch,
                                              std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
