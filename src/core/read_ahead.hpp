// Memory for a source that costs a call of the system for each read: small reads are served from bytes that
// were read ahead.
//
// How much is read ahead doubles while small reads follow each other, and begins again after a large read or a
// seek. So a reader of headers that are far apart reads little that it does not want, and a reader of small
// blocks makes few calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hemstitch {

class ReadAhead {
 public:
  // Bytes that were read and not yet taken.
  std::span<const std::byte> kept() const { return std::span(memory_).subspan(at_, end_ - at_); }
  void pass(std::size_t bytes) { at_ += bytes; }
  // The source goes elsewhere.
  void forget() {
    at_ = end_ = 0;
    next_bytes_ = kLeastBytes;
  }

  // Takes what is kept, or else reads. `read(span)` returns what came, and 0 only at the end.
  template <class Read>
  std::size_t take(std::span<std::byte> into, const Read& read) {
    if (at_ == end_ && !into.empty()) {
      if (into.size() >= next_bytes_) {
        next_bytes_ = kLeastBytes;
        return read(into);
      }
      keep_more(read);
    }
    const std::size_t bytes = std::min(into.size(), end_ - at_);
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(at_), bytes, into.begin());
    at_ += bytes;
    return bytes;
  }

  // Reads until `least` bytes, at most kLeastBytes, are kept, or the end.
  template <class Read>
  std::span<const std::byte> look_at(std::size_t least, const Read& read) {
    while (end_ - at_ < least && keep_more(read)) {
    }
    return kept().first(std::min(least, end_ - at_));
  }

 private:
  static constexpr std::size_t kLeastBytes = std::size_t{4} << 10, kMostBytes = std::size_t{64} << 10;

  // Returns false at the end.
  template <class Read>
  bool keep_more(const Read& read) {
    std::copy(memory_.begin() + static_cast<std::ptrdiff_t>(at_),
              memory_.begin() + static_cast<std::ptrdiff_t>(end_), memory_.begin());
    end_ -= at_;
    at_ = 0;
    if (memory_.size() < end_ + next_bytes_) memory_.resize(end_ + next_bytes_);
    const std::size_t bytes = read(std::span(memory_).subspan(end_, next_bytes_));
    end_ += bytes;
    next_bytes_ = std::min(2 * next_bytes_, kMostBytes);
    return bytes != 0;
  }

  std::vector<std::byte> memory_;
  std::size_t at_ = 0, end_ = 0;
  std::size_t next_bytes_ = kLeastBytes;
};

}  // namespace hemstitch
