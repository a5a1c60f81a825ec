// Where bytes come from: files, pipes, memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hemstitch {

// Calls never overlap, but may come from different threads. A source defines read(), or read_some() if its bytes come
// piece by piece: each has a default that is made of the other.
class Source {
 public:
  virtual ~Source() = default;
  // Fills `into` and returns its size; fewer bytes only at the end of the stream. Throws kReadFailed.
  virtual std::size_t read(std::span<std::byte> into);
  // The same, but with what is there: waits for a byte or the end, and returns fewer bytes than there is room
  // for if no more have come. Only 0 means the end.
  virtual std::size_t read_some(std::span<std::byte> into) { return read(into); }
  // Whether anything comes within this time: a byte, or the end. A negative time: waits until it does. A source
  // that never waits for others, like a file, says so at once.
  virtual bool comes_within(std::chrono::milliseconds /*time*/) { return true; }
  // Like read(), with the threads of the caller's arena if that is faster; for tens of megabytes at once.
  virtual std::size_t read_in_parallel(std::span<std::byte> into) { return read(into); }
  // Skips `count` bytes; returns how many there were.
  virtual std::uint64_t skip(std::uint64_t count);
  // Goes to a byte of the stream, counted from its beginning; false if the source cannot seek (a pipe).
  virtual bool seek(std::uint64_t /*position*/) { return false; }
  // The size of the whole stream, if it is known before the end (a regular file).
  virtual std::optional<std::uint64_t> total_bytes() const { return std::nullopt; }
};

class MemorySource : public Source {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : all_(bytes), rest_(bytes) {}
  std::size_t read(std::span<std::byte> into) override;
  std::size_t read_in_parallel(std::span<std::byte> into) override;
  std::uint64_t skip(std::uint64_t count) override;
  bool seek(std::uint64_t position) override;
  std::optional<std::uint64_t> total_bytes() const override { return all_.size(); }

 private:
  std::span<const std::byte> all_;
  std::span<const std::byte> rest_;
};

}  // namespace hemstitch
