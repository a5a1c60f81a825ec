// Bytes that can be read at any place: memory, a file, or what a caller's function gives.
//
// Thread safety: several threads may read at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/descriptor.hpp"
#include "core/source.hpp"

namespace hemstitch {

class RandomAccess {
 public:
  virtual ~RandomAccess() = default;
  virtual std::uint64_t total_bytes() const = 0;
  // Fills `into` with the bytes from `at` on and returns how many there were; fewer only at the end. Throws
  // kReadFailed.
  virtual std::size_t read_at(std::uint64_t at, std::span<std::byte> into) const = 0;
  // All bytes, if they are in memory.
  virtual std::optional<std::span<const std::byte>> memory() const { return std::nullopt; }
};

// The bytes [at, at + room.size()), fewer only at the end: where they lie in memory, or read into `room`.
std::span<const std::byte> bytes_at(const RandomAccess& input, std::uint64_t at, std::span<std::byte> room);

class MemoryAccess : public RandomAccess {
 public:
  explicit MemoryAccess(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t total_bytes() const override { return bytes_.size(); }
  std::size_t read_at(std::uint64_t at, std::span<std::byte> into) const override;
  std::optional<std::span<const std::byte>> memory() const override { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// A regular file. Its position is neither used nor moved.
class FileAccess : public RandomAccess {
 public:
  // Throws kReadFailed.
  explicit FileAccess(const std::string& path);
  // A file that is open for reading. The descriptor is duplicated.
  explicit FileAccess(int descriptor);
  std::uint64_t total_bytes() const override { return bytes_; }
  std::size_t read_at(std::uint64_t at, std::span<std::byte> into) const override;

 private:
  FileAccess(Descriptor file, std::string name);

  Descriptor file_;
  std::string name_;
  std::uint64_t bytes_ = 0;
};

// A caller's function that does what read_at() does.
class CallAccess : public RandomAccess {
 public:
  using ReadAt = std::function<std::size_t(std::uint64_t at, std::span<std::byte> into)>;

  CallAccess(ReadAt read, std::uint64_t bytes) : read_(std::move(read)), bytes_(bytes) {}
  std::uint64_t total_bytes() const override { return bytes_; }
  std::size_t read_at(std::uint64_t at, std::span<std::byte> into) const override;

 private:
  ReadAt read_;
  std::uint64_t bytes_;
};

// Reads such bytes in order. Headers are short and near each other, so a few KB are read at once.
class RandomAccessSource : public Source {
 public:
  explicit RandomAccessSource(const RandomAccess& input, std::uint64_t at = 0) : input_(input), at_(at) {}
  std::size_t read(std::span<std::byte> into) override;
  std::uint64_t skip(std::uint64_t count) override;
  bool seek(std::uint64_t position) override {
    at_ = position;
    return true;
  }
  std::optional<std::uint64_t> total_bytes() const override { return input_.total_bytes(); }

 private:
  const RandomAccess& input_;
  std::uint64_t at_;
  std::array<std::byte, 4096> ahead_;
  std::uint64_t ahead_at_ = 0;
  std::size_t ahead_bytes_ = 0;
};

}  // namespace hemstitch
