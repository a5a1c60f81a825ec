// Gathers small pieces, so that many small frames do not cost a call of the system each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/stream.hpp"

namespace hemstitch {

class GatheringSink : public Sink {
 public:
  explicit GatheringSink(Sink& sink) : sink_(sink) {}

  void write(std::span<const std::byte> bytes) override {
    if (!gathers(bytes)) sink_.write(bytes);
  }
  void write_in_parallel(std::span<const std::byte> bytes) override {
    if (!gathers(bytes)) sink_.write_in_parallel(bytes);
  }
  void flush() override {
    pass_on();
    sink_.flush();
  }

  // Calls work(), which writes here, and passes on the rest, even if that throws: what precedes an error is
  // written too.
  template <class Work>
  void pass_on_after(const Work& work) {
    try {
      work();
    } catch (...) {
      pass_on();
      throw;
    }
    pass_on();
  }

 private:
  static constexpr std::size_t kGatheredBytes = std::size_t{64} << 10;

  // Returns false for a large piece, once what precedes it has been passed on.
  bool gathers(std::span<const std::byte> bytes) {
    if (bytes.size() > kGatheredBytes - gathered_bytes_) pass_on();
    if (bytes.size() >= kGatheredBytes / 2) {
      pass_on();
      return false;
    }
    if (memory_.empty()) memory_.resize(kGatheredBytes);
    std::copy(bytes.begin(), bytes.end(), memory_.begin() + static_cast<std::ptrdiff_t>(gathered_bytes_));
    gathered_bytes_ += bytes.size();
    return true;
  }
  // What the sink refuses is not written again.
  void pass_on() {
    const std::size_t bytes = std::exchange(gathered_bytes_, 0);
    if (bytes != 0) sink_.write(std::span(memory_).first(bytes));
  }

  Sink& sink_;
  std::vector<std::byte> memory_;
  std::size_t gathered_bytes_ = 0;
};

}  // namespace hemstitch
