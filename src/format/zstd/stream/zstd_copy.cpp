#include "format/zstd/stream/zstd_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "format/zstd/stream/zstd_words.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kCopyStep = 16;
// Copies may write so far behind a block's content.
constexpr std::size_t kWrittenBeyond = 64;
constexpr std::size_t kCopyRoom = kZstdMostBlockBytes + kWrittenBeyond;

// Reads all before it writes, since both may overlap.
[[gnu::always_inline]] inline void copy_step(std::byte* to, const std::byte* from) {
  std::array<std::byte, kCopyStep> bytes;
  std::memcpy(bytes.data(), from, kCopyStep);
  std::memcpy(to, bytes.data(), kCopyStep);
}

// Copies in whole steps, two at least.
[[gnu::always_inline]] inline void copy_apart(std::byte* to, const std::byte* from, std::size_t count) {
  copy_step(to, from);
  copy_step(to + kCopyStep, from + kCopyStep);
  for (std::size_t i = 2 * kCopyStep; i < count; i += kCopyStep) copy_step(to + i, from + i);
}

// A match that reaches into what it gives itself: what is there already is doubled until it is a step long.
[[gnu::always_inline]] inline void copy_near_match(std::byte* to, std::size_t offset, std::size_t count) {
  const std::byte* const from = to - offset;
  std::byte* const end = to + count;
  while (static_cast<std::size_t>(to - from) < kCopyStep) {
    const auto there = to - from;
    copy_step(to, from);
    to += there;
    if (to >= end) return;
  }
  const auto distance = to - from;
  for (; to < end; to += kCopyStep) copy_step(to, to - distance);
}

}  // namespace

std::uint64_t ZstdContent::memory_bytes(std::uint64_t window_bytes, std::size_t kept_bytes) {
  return std::max<std::uint64_t>(window_bytes, kept_bytes) + 2 * kCopyRoom;
}

ZstdContent::ZstdContent(std::uint64_t window_bytes, std::size_t kept_bytes, const ZstdDictionary& before)
    : window_bytes_(window_bytes),
      dictionary_(before.content),
      room_bytes_(static_cast<std::size_t>(memory_bytes(window_bytes, kept_bytes))),
      memory_(std::make_shared<LargeBuffer>(room_bytes_)),
      at_(memory_->get()),
      offsets_{before.repeats.offsets()} {}

ZstdContent::ZstdContent(std::uint64_t window_bytes, std::size_t kept_bytes, std::uint64_t frame_bytes,
                         std::span<const std::byte> window, const ZstdOffsets& offsets)
    : ZstdContent(window_bytes, kept_bytes) {
  at_ = std::ranges::copy(window, at_).out;
  bytes_ = frame_bytes;
  offsets_ = offsets;
}

std::optional<std::span<const std::byte>> ZstdContent::add(const ZstdDecodedBlock& block,
                                                           ZstdBlockType type) {
  if (block.damaged) return std::nullopt;
  const auto used = static_cast<std::size_t>(at_ - memory_->get());
  if (used + block.content_bytes + kWrittenBeyond > room_bytes_) {
    before_end_ = used;
    at_ = memory_->get();
  }
  if (type == ZstdBlockType::kRaw)
    std::ranges::copy(block.literals, at_);
  else if (type == ZstdBlockType::kRle)
    std::fill_n(at_, block.content_bytes, block.literals[0]);
  else if (!copy_sequences(block, at_))
    return std::nullopt;
  const std::span<const std::byte> content(at_, block.content_bytes);
  at_ += content.size();
  bytes_ += content.size();
  return content;
}

bool ZstdContent::copy_sequences(const ZstdDecodedBlock& block, std::byte* to) {
  const std::byte* const begin = memory_->get();
  const std::byte* literals = block.literals.data();
  const std::byte* const literals_end = literals + block.literals.size();
  const std::size_t window = static_cast<std::size_t>(window_bytes_);
  for (const ZstdShortSequence& sequence : block.sequences) {
    const std::size_t literal_bytes = sequence.literals, match_bytes = sequence.match;
    copy_step(to, literals);
    if (literal_bytes > kCopyStep) [[unlikely]]
      copy_apart(to + kCopyStep, literals + kCopyStep, literal_bytes - kCopyStep);
    to += literal_bytes;
    literals += literal_bytes;
    std::size_t offset = sequence.offset;
    if (offset > std::min(static_cast<std::size_t>(to - begin), window)) [[unlikely]] {
      const std::int64_t resolved = offsets_.resolved(sequence.offset);
      const std::uint64_t all = bytes_until(to);
      // The dictionary is before the content as long as the window reaches it.
      const std::uint64_t reach = all <= window_bytes_ ? all + dictionary_.size() : window_bytes_;
      if (resolved <= 0 || static_cast<std::uint64_t>(resolved) > reach) return false;
      offset = static_cast<std::size_t>(resolved);
      if (offset > static_cast<std::size_t>(to - begin)) {
        copy_far_match(to, offset, match_bytes);
        to += match_bytes;
        continue;
      }
    }
    if (offset >= kCopyStep)
      copy_apart(to, to - offset, match_bytes);
    else
      copy_near_match(to, offset, match_bytes);
    to += match_bytes;
  }
  std::copy(literals, literals_end, to);
  ZstdOffsets offsets;
  for (std::size_t i = 0; i < offsets.offsets.size(); ++i)
    offsets.offsets[i] = static_cast<std::uint32_t>(offsets_.resolved(block.offsets.offsets[i]));
  offsets_ = offsets;
  return true;
}

// Begins in the turn before, and may reach into this one. Or in the dictionary: then all content is of this turn.
void ZstdContent::copy_far_match(std::byte* to, std::size_t offset, std::size_t count) {
  const std::byte* const begin = memory_->get();
  const std::byte* const before_end =
      offset > bytes_until(to) ? dictionary_.data() + dictionary_.size() : begin + before_end_;
  const std::size_t beyond = offset - static_cast<std::size_t>(to - begin), some = std::min(beyond, count);
  std::memmove(to, before_end - beyond, some);
  for (std::size_t i = some; i < count; ++i) to[i] = *(to + i - offset);
}

void ZstdContent::leave_memory() {
  const std::vector<std::byte> last = window();
  memory_ = std::make_shared<LargeBuffer>(room_bytes_);
  at_ = std::ranges::copy(last, memory_->get()).out;
  before_end_ = 0;
}

std::vector<std::byte> ZstdContent::take_window() {
  std::vector<std::byte> last = window();
  memory_.reset();
  return last;
}

std::vector<std::byte> ZstdContent::window() const {
  const std::byte* const begin = memory_->get();
  const auto count = static_cast<std::size_t>(std::min(bytes_, window_bytes_));
  const std::size_t here = std::min(count, static_cast<std::size_t>(at_ - begin)), before = count - here;
  std::vector<std::byte> window(begin + before_end_ - before, begin + before_end_);
  window.insert(window.end(), at_ - here, at_);
  return window;
}

}  // namespace hemstitch
