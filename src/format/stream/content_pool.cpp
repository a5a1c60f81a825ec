#include "format/stream/content_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace hemstitch {
namespace {

constexpr std::size_t kMemoryPageBytes = std::size_t{64} << 10;  // at least those of the system

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kMemoryPageBytes - 1) / kMemoryPageBytes * kMemoryPageBytes;
}

}  // namespace

ContentPool::Room::Room(std::size_t bytes, bool huge_pages)
    : memory_(static_cast<std::byte*>(std::aligned_alloc(kMemoryPageBytes, bytes)), std::free) {
  if (!memory_) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  madvise(memory_.get(), bytes, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
}

ContentPool::ContentPool(std::size_t room_bytes, std::uint64_t most_bytes, std::size_t idle_bytes)
    : room_bytes_(whole_pages(room_bytes)), most_bytes_(most_bytes), idle_bytes_(whole_pages(idle_bytes)) {}

std::shared_ptr<ContentPool::Room> ContentPool::take(std::size_t bytes) {
  try {
    std::unique_ptr<Room> room = idle_or_new(std::min(whole_pages(bytes), room_bytes_));
    if (!room) return nullptr;
    return {room.release(), [pool = shared_from_this()](Room* back) { pool->give_back(back); }};
  } catch (const std::bad_alloc&) {
    return nullptr;  // the calling thread restores it itself
  }
}

bool ContentPool::may_write(Room& room, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (!reserve(room, whole_pages(bytes))) return false;
  room.written_ = std::max(room.written_, whole_pages(bytes));
  return true;
}

void ContentPool::has_written(Room& room) {
  const std::scoped_lock lock(mutex_);
  reserved_bytes_ -= room.reserved_ - room.written_;
  room.reserved_ = room.written_;
}

std::unique_ptr<ContentPool::Room> ContentPool::idle_or_new(std::size_t reserved_bytes) {
  const std::scoped_lock lock(mutex_);
  if (idle_.empty()) {
    idle_.reserve(made_ + 1);  // so that giving back needs no memory
    idle_.push_back(std::make_unique<Room>(room_bytes_, idle_bytes_ >= room_bytes_));
    ++made_;
  }
  std::unique_ptr<Room> room = std::move(idle_.back());
  idle_.pop_back();
  if (reserve(*room, reserved_bytes)) return room;
  idle_.push_back(std::move(room));
  return nullptr;
}

void ContentPool::give_back(Room* room) {
  const std::scoped_lock lock(mutex_);
  shrink(*room, idle_bytes_);
  idle_.emplace_back(room);
}

// Rooms that nobody uses give their memory to those that are used.
bool ContentPool::reserve(Room& room, std::size_t bytes) {
  if (bytes <= room.reserved_) return true;
  const std::size_t more = bytes - room.reserved_;
  for (auto idle = idle_.begin(); idle != idle_.end() && reserved_bytes_ + more > most_bytes_; ++idle)
    shrink(**idle, 0);
  if (reserved_bytes_ + more > most_bytes_) return false;
  reserved_bytes_ += more;
  room.reserved_ = bytes;
  return true;
}

void ContentPool::shrink(Room& room, std::size_t bytes) {
  if (room.written_ > bytes && madvise(room.get() + bytes, room.written_ - bytes, MADV_DONTNEED) == 0)
    room.written_ = bytes;
  reserved_bytes_ -= room.reserved_ - room.written_;
  room.reserved_ = room.written_;
}

}  // namespace hemstitch
