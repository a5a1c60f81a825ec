// Where the streams of one call write: into a caller's buffer, or to a caller's function.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "hemstitch/hemstitch.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {

class VectorSink : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Throws kOutputTooSmall when the buffer is full.
class RoomSink : public Sink {
 public:
  explicit RoomSink(std::span<std::byte> room) : room_(room) {}

  void write(std::span<const std::byte> bytes) override {
    std::copy(bytes.begin(), bytes.end(), take(bytes.size()));
  }
  void write_in_parallel(std::span<const std::byte> bytes) override {
    copy_in_parallel(take(bytes.size()), bytes.data(), bytes.size());
  }
  std::size_t written() const { return written_; }

 private:
  std::byte* take(std::size_t bytes) {
    if (bytes > room_.size() - written_)
      throw Error(Status::kOutputTooSmall,
                  fmt::format("the output's {} bytes of room are full", room_.size()));
    return room_.data() + std::exchange(written_, written_ + bytes);
  }

  std::span<std::byte> room_;
  std::size_t written_ = 0;
};

// A caller's function, which must outlive this object.
class CallSink : public Sink {
 public:
  explicit CallSink(const Output& output) : output_(output) {
    if (!output_) throw Error(Status::kInvalidOption, "output is an empty function");
  }
  void write(std::span<const std::byte> bytes) override { output_(bytes); }

 private:
  const Output& output_;
};

}  // namespace hemstitch
