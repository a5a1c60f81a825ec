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
  unsigned room = 0;
  std::size_t history_bytes = 0;
};

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
  // Starts the upload of bytes to `at` in an input, in which nothing is decoded. They must stay unchanged until blocks behind them were decoded, or never
  // will be.
  virtual void upload(unsigned input, std::size_t at, std::span<const std::byte> bytes) = 0;
  // Starts decoding, behind the uploads so far. The first call begins the frame. Before the next one, decoded() and resolve() are called.
  virtual void decode(const ZstdPieceWork& work) = 0;
  // Whether decoded() would not wait.
  virtual bool is_decoded() = 0;
  // Waits for what decode() started.
  virtual ZstdPieceRestored decoded() = 0;
  // Starts making content of what was decoded, in its room, whose content so far may still be on its way to the host.
  virtual void resolve() = 0;
  // Starts the download of a part of a room. Returns a number for wait(), larger than all before.
  virtual std::uint64_t download(unsigned room, std::size_t at, std::span<std::byte> to) = 0;
  // Waits for the download; if that fails, nothing more of it arrives.
  virtual void wait(std::uint64_t download) = 0;
};

}  // namespace hemstitch
