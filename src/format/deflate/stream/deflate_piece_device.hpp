// What restores large pieces of a stream of DEFLATE, of tens of megabytes compressed: a device with memory of its own. deflate_device_decoder.hpp
// calls it; engine/cuda has the one of CUDA, tests one on the processor.
//
// A device has a few inputs, a few outputs, and a few rooms to work in. An input is a lead, for bytes of the piece before that were not restored with it, and behind that
// the piece's own bytes. Positions in an input count from the beginning of the lead. A room serves one piece at a time: so several are worked on at once, but only one restored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/large_buffer.hpp"

namespace hemstitch {

// What to restore: from a block's header on, as far as it goes.
struct DeflatePieceWork {
  unsigned input = 0;
  std::uint64_t begin_bits = 0;            // in the input: of the header
  std::size_t end = 0;                     // of the input's bytes
  std::span<const std::byte> window = {};  // the content before, at most 32 KB of it
  bool members = false;                    // gzip: a member may follow another
  unsigned output = 0;
  unsigned room = 0;
  bool prepared = false;  // prepare() was called for the input in this room, and nothing else since
};

// What can be done of a piece before it is known where in it to begin, and with which window.
struct DeflatePieceToPrepare {
  unsigned input = 0;
  std::size_t begin = 0, end = 0;  // of the input's bytes, some of the lead's among them
  bool members = false;
  unsigned room = 0;
};

// A member of gzip that ended inside the piece.
struct DeflatePieceMember {
  std::uint64_t end_bits = 0;         // behind its last block
  std::uint64_t content_end = 0;      // in the piece's content
  std::uint64_t next_begin_bits = 0;  // of the next member's first block header; 0: none is restored here
  std::uint32_t crc32 = 0;            // of what the piece has of its content
};

// What was restored. All of it is what zlib's inflate gives; where it ends says nothing of what follows.
struct DeflatePieceRestored {
  std::uint64_t end_bits = 0;  // behind the last block that was restored; begin_bits where none was
  std::uint64_t content_bytes = 0;
  bool ended = false;  // that was the last one of the last stream
  std::vector<DeflatePieceMember> members = {};
  std::uint32_t crc32 = 0;                 // of the content behind the last of these
  std::vector<std::byte> last_bytes = {};  // of that content, at most 32 KB
};

class DeflatePieceDevice {
 public:
  virtual ~DeflatePieceDevice() = default;

  // Memory of the host from which uploads are fast. Throws std::bad_alloc.
  virtual LargeBuffer make_host_memory(std::size_t bytes) { return LargeBuffer(bytes); }

  // Everything from here on throws Error (device family) where the device fails. upload() and download() are called by one thread,
  // wait() by any; the others by several at once, each with a room of its own.
  //
  // Sets off the way up of some of a piece's own bytes, `at` in the input. They stay as they are until the piece was restored, or never is.
  virtual void upload(unsigned input, std::size_t at, std::span<const std::byte> bytes) = 0;
  // Copies bytes from `from_at` of one input before the own bytes of another, for what is done next in this room.
  virtual void carry(unsigned from, std::size_t from_at, std::size_t bytes, unsigned to, unsigned room) = 0;
  // What was uploaded and carried before is there, and stays, until it was restored or the room serves another piece. Returns when it is done.
  virtual void prepare(const DeflatePieceToPrepare& work) = 0;
  // What was uploaded and carried before is there, and downloads of the output are over, before it begins. Returns when it is done.
  virtual DeflatePieceRestored restore(const DeflatePieceWork& work) = 0;
  // Sets off the way down of a part of an output's content. Returns a number for wait(), larger than all before.
  virtual std::uint64_t download(unsigned output, std::uint64_t at, std::span<std::byte> to) = 0;
  // Until the download is over; where it fails, nothing more of it comes.
  virtual void wait(std::uint64_t download) = 0;
};

}  // namespace hemstitch
