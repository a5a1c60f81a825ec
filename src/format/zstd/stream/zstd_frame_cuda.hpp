// Restores one frame of Zstandard of many blocks (RFC 8878) on a CUDA device, piece by piece: some thousand blocks at a time, in
// device memory, to content in device memory.
//
// Every block is worked on by itself, by the stages that restore batches (restore/zstd_restore_cuda.hpp). What blocks take from
// earlier ones comes as late as possible: tables by the number of the block that described them, repeat offsets and places by a scan,
// content by symbols: a byte, or a mark, which is the place of an earlier byte. At the end marks are followed until a byte.
// docs/design/zstd-cuda.md explains it. CPU twins: ZstdWalk, ZstdBlockDecoder, ZstdOffsets, zstd_symbols.hpp.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// A piece has less than 2^31 bytes of data, and as many of content and history together.
struct ZstdFramePiece {
  const std::byte* d_data =
      nullptr;  // blocks of the frame, one after the other, with their headers; at any address
  std::size_t data_bytes = 0;
  const std::uint32_t* d_block_at = nullptr;  // where each header begins in the data
  std::uint32_t block_count = 0;
  std::uint64_t window_bytes = 0;  // the frame's
  // At any address. Before it lies the frame's content so far, as far back as the window reaches.
  std::byte* d_content = nullptr;
  std::uint32_t history_bytes = 0;
  std::size_t capacity = 0;  // exact room: no byte after it is written. 128 KB are enough for one block
};

enum class ZstdFrameStop : std::uint32_t {
  kNone,
  kRoom,   // the next block needs more content or scratch than is left of the piece's
  kDoubt,  // the next block is damaged, or of a kind that the kernels do not restore
};

// What became of a piece.
struct ZstdFrameResult {
  std::uint32_t blocks;         // so many of its first blocks are restored
  std::uint32_t repeats[3];     // the last three offsets behind them
  std::uint32_t content_bytes;  // of them
  ZstdFrameStop stop;           // why not all; nothing is said of later blocks
};

// For pieces of so many blocks and so much room: about 7 bytes for each of content, and 10 KB a block.
std::size_t zstd_frame_scratch_bytes(std::uint32_t block_count, std::size_t capacity);
// What a frame carries from piece to piece: tables and repeat offsets. Aligned to 16 bytes. All zeros: the frame's beginning.
std::size_t zstd_frame_carry_bytes();

struct ZstdFrameMemory {
  void* d_carry = nullptr;  // the frame's
  ZstdFrameResult* d_result = nullptr;
  void* d_scratch = nullptr;
  std::size_t scratch_bytes = 0;
};

// Restores the piece's blocks up to the first that it stops at, and carries on to the next piece behind them. Content behind that of the
// restored blocks is unspecified, within the capacity. Checksums are not verified: XXH64 goes through all content in order. Nothing outside of
// the data is read. Asynchronous on `stream`; calls for one frame are in order. Throws kInvalidOption for pieces of 2^31 bytes or more, and for
// too little scratch.
void restore_zstd_frame_piece(const ZstdFramePiece& piece, const ZstdFrameMemory& memory,
                              cudaStream_t stream);

// Of the streams for the three parts. Decoding is bound by latency and has few warps, the other two fill the device: without priorities, decoding would
// begin once they have ended.
inline constexpr int kZstdDecodingPriority = 2, kZstdPlacingPriority = 1;

// The three parts of it, for as many streams. Each follows the one before, with the same arguments, and the same part of the piece before. A
// piece is decoded, with scratch and a result of its own, while the one before is placed and resolved: before it is known whether all of that one's
// blocks are restored. If they are not, what was decoded of the later piece counts for nothing. The tables that both carried on are then taken
// back by rewinding, with the arguments of the piece that stopped, before more is decoded.
//
// Decoding reads neither `d_content` nor `history_bytes`; only resolving touches content and history.
void decode_zstd_frame_piece(const ZstdFramePiece& piece, const ZstdFrameMemory& memory, cudaStream_t stream);
void place_zstd_frame_piece(const ZstdFramePiece& piece, const ZstdFrameMemory& memory, cudaStream_t stream);
void resolve_zstd_frame_piece(const ZstdFramePiece& piece, const ZstdFrameMemory& memory,
                              cudaStream_t stream);
void rewind_zstd_frame_piece(const ZstdFramePiece& piece, const ZstdFrameMemory& memory, cudaStream_t stream);

}  // namespace hemstitch::cuda
