// Restores pieces of one frame of Zstandard, of some thousand blocks each, on a device with its own memory. zstd_device_decoder.hpp uses it.
// zstd_piece_device_cuda.hpp has the implementation for CUDA; tests have one on the processor.
//
// A device has a few inputs, for compressed bytes, and rooms. A room holds the content of a piece, behind as much of the content before it as the
// frame's window reaches, its history. Places in a room count from the beginning of that history. Pieces take the rooms in turns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/large_buffer.hpp"
#include "format/zstd/block/zstd_symbols.hpp"

namespace hemstitch {

// What to decode: blocks of an input, behind those of the call before.
struct ZstdPieceWork {
  unsigned input = 0;
  std::span<const std::uint32_t> block_at;  // where each block's header begins in the input
  std::size_t end = 0;                      // of the last one
};
// So many are decoded and not resolved at once: one is decoded while the one before is placed and resolved.
inline constexpr std::size_t kZstdDecodedPieces = 2;

// What became of it. Blocks that are restored are right; nothing is said of later ones.
struct ZstdPieceRestored {
  enum class Stop {
    kNone,
    kRoom,   // the next block needs more room than is left
    kDoubt,  // the next block is damaged, or of a kind that the device does not restore
  };
  std::size_t blocks = 0;
  std::array<std::uint32_t, kZstdRepeatCount> repeats{};  // the last three offsets behind them
  std::size_t content_bytes = 0;
  Stop stop = Stop::kNone;  // why not all
};

class ZstdPieceDevice {
 public:
  virtual ~ZstdPieceDevice() = default;

  // Host memory with which transfers are fast. Throws std::bad_alloc.
  virtual LargeBuffer make_host_memory(std::size_t bytes) { return LargeBuffer(bytes); }

  // All functions from here on throw Error (device family) if the device fails. One thread calls them, but for wait(), which any thread may call.
  //
  // Starts the upload of bytes to `at` in an input, of which all that was decoded is placed. They must stay unchanged until blocks behind them were placed, or
  // never will be.
  virtual void upload(unsigned input, std::size_t at, std::span<const std::byte> bytes) = 0;
  // Starts decoding, behind the uploads so far. The first call begins the frame.
  virtual void decode(const ZstdPieceWork& work) = 0;
  // Starts finding out what the first piece that is decoded and not placed comes to: where its blocks begin, behind so much history, and what is copied. Then
  // placed() is called, and resolve() if blocks are restored, before the next one is placed.
  virtual void place(std::size_t history_bytes) = 0;
  // Whether placed() would not wait.
  virtual bool is_placed() = 0;
  // Waits for what place() started. If not all of its blocks are restored, what was decoded behind them is forgotten: decoding goes on behind the last of these.
  virtual ZstdPieceRestored placed() = 0;
  // Starts making content of what was placed, in a room, whose content so far may still be on its way to the host.
  virtual void resolve(unsigned room) = 0;
  // Starts the download of a part of a room. Returns a number for wait(), larger than all before.
  virtual std::uint64_t download(unsigned room, std::size_t at, std::span<std::byte> to) = 0;
  // Waits for the download; if that fails, nothing more of it arrives.
  virtual void wait(std::uint64_t download) = 0;
};

}  // namespace hemstitch
