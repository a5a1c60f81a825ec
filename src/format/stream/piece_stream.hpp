// What decoders have in common that keep the input of a stream in pieces, several of which are restored at once
// (deflate_parallel_decoder.hpp, deflate_device_decoder.hpp, zstd_parallel_decoder.hpp): the pieces, the position, and the
// threads.
//
// The calling thread takes input into pieces and passes on content. Positions count all input bytes. Bytes that were
// taken and not restored, or that lie after the end of a stream, stay in their pieces.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "core/large_buffer.hpp"
#include "format/stream_decoder.hpp"

namespace hemstitch {

// Where a block's header begins, and the content before it: what is restored from there on is right.
struct StreamLink {
  std::uint64_t bits = 0;
  std::vector<std::byte> window;

  unsigned taken_bits() const { return static_cast<unsigned>(bits % 8); }  // of the header's first byte
};

struct StreamPiece {
  std::uint64_t number = 0;
  std::uint64_t begin = 0;    // in the whole input
  std::size_t own_bytes = 0;  // without those that it holds of the next piece
  LargeBuffer memory;

  std::uint64_t end() const { return begin + own_bytes; }
  bool holds(std::uint64_t byte) const { return byte >= begin && byte < end(); }
  // Its own bytes from this one on.
  std::span<const std::byte> from(std::uint64_t byte) const {
    return std::span<const std::byte>(memory.get(), own_bytes).subspan(byte - begin);
  }
};

// The piece with this byte, or null.
template <class Pieces>
auto* piece_with(const Pieces& pieces, std::uint64_t byte) {
  for (const auto& piece : pieces)
    if (piece->holds(byte)) return piece.get();
  return decltype(pieces.front().get()){nullptr};
}

class PieceStream : public StreamDecoder {
 public:
  std::uint64_t ahead_bytes() const override { return taken_bytes_ - position_; }
  std::size_t read_ahead(std::span<std::byte> to) override;

 protected:
  // The bytes of the piece with this byte, from there on. Empty if there is none.
  virtual std::span<const std::byte> kept_from(std::uint64_t byte) const = 0;

  // The byte that a link is inside of; 0 if it is between two bytes.
  std::byte first_byte(const StreamLink& link) const;
  // Continues at the link.
  void go_to(const StreamLink& link) { position_ = (link.bits + 7) / 8; }
  // What another decoder did with the bytes at the position, and with the rest of the output. Returns whether it
  // continues.
  bool add(StreamStep& step, const StreamStep& done);

  // Starts up to so many threads; returns whether there is one. Those that were started suffice.
  bool start_threads(unsigned count, const std::function<void()>& work);
  // To be called, at the latest by a destructor, before what the threads use is destroyed.
  void stop_threads();
  // What such a thread does: do_task(lock) does what is most urgent and returns true, or returns false if there is nothing to
  // do. It gets the lock of mutex_ locked, and leaves it so.
  template <class DoTask>
  void work_until_stopped(const DoTask& do_task) {
    std::unique_lock lock(mutex_);
    while (!stops_)
      if (!do_task(lock)) work_comes_.wait(lock);
  }
  // The calling thread works while it waits.
  template <class Condition, class DoTask>
  void work_until(std::unique_lock<std::mutex>& lock, const Condition& condition, const DoTask& do_task) {
    while (!condition())
      if (!do_task(lock)) work_is_done_.wait(lock);
  }

  // Only for the calling thread.
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t position_ = 0;  // restored up to here, except for a few bits
  std::uint64_t piece_count_ = 0;

  mutable std::mutex mutex_;  // guards what follows, and what a decoder says
  std::condition_variable work_comes_, work_is_done_;
  bool stops_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace hemstitch
