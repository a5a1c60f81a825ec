// Restores large pieces of a DEFLATE stream, with tens of compressed megabytes, on a device with its own
// memory. deflate_device_decoder.hpp uses it. deflate_piece_device_cuda.hpp has the implementation for CUDA; tests have one on
// the processor.
//
// A device has a few inputs, outputs and rooms to work in. An input is a lead, for bytes of the piece before
// that were not restored with it, followed by the piece's own bytes. Positions in an input count from the
// beginning of the lead. A room serves one piece at a time, so several pieces are processed at once, but only
// one is restored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/large_buffer.hpp"

namespace hemstitch {

// What to restore: from a block's header on, as far as possible.
struct DeflatePieceWork {
  unsigned input = 0;
  std::uint64_t begin_bits = 0;            // of the header, in the input
  std::size_t end = 0;                     // of the input's bytes
  std::span<const std::byte> window = {};  // the content before, at most 32 KB of it
  bool members = false;                    // gzip: a member may follow another
  unsigned output = 0;
  unsigned room = 0;
  bool prepared = false;  // prepare() was called for this input in this room, and nothing else since
};

// The part of the work on a piece that needs neither the place where it begins nor the window.
struct DeflatePieceToPrepare {
  unsigned input = 0;
  std::size_t begin = 0, end = 0;  // of the input's bytes, including some of the lead
  bool members = false;
  unsigned room = 0;
};

// A gzip member that ended inside the piece.
struct DeflatePieceMember {
  std::uint64_t end_bits = 0;         // after its last block
  std::uint64_t content_end = 0;      // in the piece's content
  std::uint64_t next_begin_bits = 0;  // of the next member's first block header; 0: none is restored here
  std::uint32_t crc32 = 0;            // of the part of its content in this piece
};

// What was restored. All of it is what zlib's inflate would give. Why it ends says nothing about what
// follows.
struct DeflatePieceRestored {
  std::uint64_t end_bits = 0;  // after the last block that was restored; begin_bits if there was none
  std::uint64_t content_bytes = 0;
  bool ended = false;  // that block ended the last stream
  std::vector<DeflatePieceMember> members = {};
  std::uint32_t crc32 = 0;                 // of the content after the last member
  std::vector<std::byte> last_bytes = {};  // of that content, at most 32 KB
};

class DeflatePieceDevice {
 public:
  virtual ~DeflatePieceDevice() = default;

  // Host memory from which uploads are fast. Throws std::bad_alloc.
  virtual LargeBuffer make_host_memory(std::size_t bytes) { return LargeBuffer(bytes); }

  // All functions from here on throw Error (device family) if the device fails. One thread calls upload()
  // and download(), any thread wait(), and several threads at once the others, each with its own room.
  //
  // Starts the upload of some of a piece's own bytes, to `at` in the input. They must stay unchanged until
  // the piece was restored, or never will be.
  virtual void upload(unsigned input, std::size_t at, std::span<const std::byte> bytes) = 0;
  // Copies bytes from `from_at` of one input to before the own bytes of another, for the next work in this
  // room.
  virtual void carry(unsigned from, std::size_t from_at, std::size_t bytes, unsigned to, unsigned room) = 0;
  // Uses what was uploaded and carried before; it must stay until it was restored or the room serves
  // another piece. Returns when it is done.
  virtual void prepare(const DeflatePieceToPrepare& work) = 0;
  // Waits for uploads and carried bytes, and for downloads of the output, before it begins. Returns when it
  // is done.
  virtual DeflatePieceRestored restore(const DeflatePieceWork& work) = 0;
  // Starts the download of a part of an output's content. Returns a number for wait(), larger than all
  // before.
  virtual std::uint64_t download(unsigned output, std::uint64_t at, std::span<std::byte> to) = 0;
  // Waits for the download; if that fails, nothing more of it arrives.
  virtual void wait(std::uint64_t download) = 0;
};

}  // namespace hemstitch
