// The blocks of a DEFLATE stream, one after the other, by a team: the threads that restore a stream together, a warp (deflate_restore.cu)
// or several (deflate_restore_few.cu). All of them go the same way and see the same; what differs is how they share the work:
//
//   kThreads, thread             how many they are, and which this one is
//   meet()                       waits for all, and shows each what the others wrote
//   tables(), window()           what they hold in shared memory
//   make_tables(stream, type, bit)       tables of the block whose first three bits are read; moves `bit` behind its header
//   find_tokens(stream, bit)             lists the tokens of the window from `bit` on, as many as there is room for
//   restore_listed(stream, count, written)   writes them, and moves `written`
//
// After each of the last three, all threads see what it did. Where one returns false, and wherever else the stream is not as it
// should be, the team gives the stream up.
#pragma once

#include "format/deflate/restore/deflate_window.cuh"

namespace hemstitch::cuda {

// How far a team has come in a stream.
struct DeflateProgress {
  std::uint64_t bit, written;
};

// Restores a stored block, from after its first three bits on.
template <class Team>
__device__ inline bool restore_stored(const DeflateStream& stream, Team& team, DeflateProgress& at) {
  at.bit = (at.bit + 7) / 8 * 8;
  const std::uint32_t sizes = stream.bits(at.bit);
  const std::uint32_t bytes = sizes & 0xFFFF;
  at.bit += 32;
  if (bytes != (~sizes >> 16) || at.bit + 8 * std::uint64_t{bytes} > stream.end_bit ||
      bytes > stream.capacity - at.written)
    return false;
  if (stream.d_output != nullptr) {
    const std::uint8_t* d_from = stream.byte_at(at.bit);
    std::uint8_t* d_to = stream.d_output + at.written;
    for (std::uint32_t i = team.thread; i < bytes; i += Team::kThreads) d_to[i] = d_from[i];
  }
  at.bit += 8 * std::uint64_t{bytes};
  at.written += bytes;
  return true;
}

// Restores the tokens of a block whose tables are made.
template <class Team>
__device__ inline bool restore_tokens(const DeflateStream& stream, Team& team, DeflateProgress& at) {
  while (at.bit < stream.end_bit) {
    const DeflateListed listed = team.find_tokens(stream, at.bit);
    const DeflateWindowEnd end = window_end(team.window(), team.tables(), listed.exit);
    at.bit = at.bit / 32 * 32 + end.bit;
    if (!end.is_sound || at.bit > stream.end_bit || !team.restore_listed(stream, listed.count, at.written))
      return false;
    if (end.ends_block) return true;
  }
  return false;
}

// Returns false if the stream is given up.
template <class Team>
__device__ inline bool restore_blocks(const DeflateStream& stream, Team& team, DeflateProgress& at) {
  bool last = false;
  while (!last) {
    if (at.bit + 3 > stream.end_bit) return false;
    const std::uint32_t head = stream.bits(at.bit);
    at.bit += 3;
    last = (head & 1) != 0;
    const auto type = static_cast<DeflateBlockType>(head >> 1 & 3);
    if (type == DeflateBlockType::kReserved) return false;
    if (type == DeflateBlockType::kStored) {
      if (!restore_stored(stream, team, at)) return false;
    } else if (!team.make_tables(stream, type, at.bit) || !restore_tokens(stream, team, at)) {
      return false;
    }
    team.meet();
  }
  return (at.bit + 7) / 8 == stream.end_bit / 8;
}

}  // namespace hemstitch::cuda
