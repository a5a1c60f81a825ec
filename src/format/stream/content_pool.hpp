// Memory for the contents of pieces of a stream, which may be lent: rooms of address space, of which only what was
// written to takes memory. A room returns to the pool when nobody uses it any more; it may be lent for longer than the
// decoder exists. Any thread may use a pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

namespace hemstitch {

class ContentPool : public std::enable_shared_from_this<ContentPool> {
 public:
  class Room {
   public:
    // A huge page takes more than what is written, and is for those who have the memory. Throws std::bad_alloc.
    Room(std::size_t bytes, bool huge_pages);
    std::byte* get() const { return memory_.get(); }

   private:
    friend class ContentPool;
    std::unique_ptr<std::byte, decltype(&std::free)> memory_;
    std::size_t written_ = 0;   // so many bytes of it take memory
    std::size_t reserved_ = 0;  // so many may
  };

  // All rooms together take `most_bytes` at most, one that nobody uses `idle_bytes`.
  ContentPool(std::size_t room_bytes, std::uint64_t most_bytes, std::size_t idle_bytes);

  // A room of which so many bytes are reserved. Nothing if there is too little memory.
  std::shared_ptr<Room> take(std::size_t bytes);
  // Whether a room may be written to up to there.
  bool may_write(Room& room, std::size_t bytes);
  // Gives back what was reserved and not used.
  void has_written(Room& room);

 private:
  std::unique_ptr<Room> idle_or_new(std::size_t reserved_bytes);
  void give_back(Room* room);
  // Call these two with the mutex held.
  bool reserve(Room& room, std::size_t bytes);
  void shrink(Room& room, std::size_t bytes);

  const std::size_t room_bytes_;
  const std::uint64_t most_bytes_;
  const std::size_t idle_bytes_;
  std::mutex mutex_;
  std::uint64_t reserved_bytes_ = 0;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<Room>> idle_;
};

}  // namespace hemstitch
