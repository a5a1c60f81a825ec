#include "search/text_boundary.hpp"

#include <string.h>

#include <algorithm>

#include "core/page.hpp"

namespace hemstitch {
namespace {

constexpr std::uint64_t kGuardBytes = 8;

}  // namespace

// The buffer begins with room for the unfinished line, rounded up to pages; then come aligned reads.
void TextBoundary::begin_buffer() {
  if (buffer_bytes_ == 0) buffer_bytes_ = kFirstReadBytes + kPageBytes + kGuardBytes;
  const std::uint64_t needed_bytes = unfinished_bytes_ + 2 * kPageBytes + kGuardBytes;
  if (buffer_bytes_ < needed_bytes) buffer_bytes_ = std::max(buffer_bytes_ + buffer_bytes_ / 2, needed_bytes);
  const std::uint64_t begin = (unfinished_bytes_ + kPageBytes) / kPageBytes * kPageBytes;
  next_end_ = passed_bytes_ + (buffer_bytes_ - kGuardBytes - begin) / kPageBytes * kPageBytes;
}

void TextBoundary::end_buffer(std::string_view window, std::uint64_t begin, std::uint64_t end) {
  const std::string_view read = window.substr(passed_bytes_ - begin, end - passed_bytes_);
  const std::size_t last_line_end = binary_from_ ? read.find_last_of(kBinaryLineEnds) : read.rfind('\n');
  unfinished_bytes_ = last_line_end == std::string_view::npos ? unfinished_bytes_ + read.size()
                                                              : read.size() - last_line_end - 1;
  passed_bytes_ = end;
}

TextBoundary::Known TextBoundary::look(std::string_view window, std::uint64_t begin, Reads reads) {
  const std::uint64_t end = begin + window.size();
  // A line that was too long for any window may have begun before this one.
  const auto in_window = [&](std::uint64_t byte) {
    return static_cast<std::size_t>(std::max(byte, begin) - begin);
  };
  if (binary_from_) return {in_window(*binary_from_), true};
  if (!zero_ && looked_bytes_ < end) {
    const std::size_t zero = window.find('\0', looked_bytes_ - begin);
    if (zero != std::string_view::npos) zero_ = begin + zero;
    looked_bytes_ = end;
  }
  if (reads == Reads::kToEnd && !zero_ && !has_hole_) return {window.size(), false};
  while (passed_bytes_ < end) {
    begin_buffer();
    if (reads == Reads::kSoFar) next_end_ = std::min(next_end_, end);
    if ((zero_ && *zero_ < next_end_) || (has_hole_ && passed_bytes_ == 0 && next_end_ <= end)) {
      binary_from_ = passed_bytes_ - unfinished_bytes_;
      return {in_window(*binary_from_), true};
    }
    if (next_end_ > end) break;
    end_buffer(window, begin, next_end_);
  }
  if (reads == Reads::kToEnd) return {window.size(), false};
  return {in_window(passed_bytes_ - unfinished_bytes_), false};
}

std::optional<std::size_t> TextBoundary::next_binary_buffer(std::string_view window, std::uint64_t begin,
                                                            Reads reads) {
  const std::uint64_t end = begin + window.size();
  begin_buffer();
  if (reads != Reads::kInBuffers) next_end_ = std::min(next_end_, end);
  if (next_end_ > end || passed_bytes_ == end) return std::nullopt;
  end_buffer(window, begin, next_end_);
  if (reads == Reads::kToEnd && next_end_ == end) return window.size();
  return static_cast<std::size_t>(std::max(passed_bytes_ - unfinished_bytes_, begin) - begin);
}

}  // namespace hemstitch
