#include "pages/page_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/options.hpp"
#include "engine/registry.hpp"

namespace hemstitch {

bool same_filled(std::span<const std::byte> page) {
  // The first words of most pages differ, which is cheaper to see than by calling memcmp().
  std::uint64_t first = 0, second = 0;
  std::memcpy(&first, page.data(), sizeof first);
  std::memcpy(&second, page.data() + kPageWordBytes, sizeof second);
  return first == second &&
         std::memcmp(page.data(), page.data() + kPageWordBytes, page.size() - kPageWordBytes) == 0;
}

void fill_page(std::span<const std::byte> word, std::span<std::byte> page) {
  std::uint64_t value = 0;
  std::memcpy(&value, word.data(), sizeof value);
  if (value == 0) {
    std::memset(page.data(), 0, page.size());
    return;
  }
  std::array<std::uint64_t, 8> words;
  words.fill(value);
  static_assert(kMinPageBytes % sizeof words == 0);
  for (std::size_t at = 0; at < page.size(); at += sizeof words)
    std::memcpy(page.data() + at, words.data(), sizeof words);
}

namespace {

// In the LZ4 block format: the largest value of a token's nibble, and the shortest match.
constexpr std::uint32_t kMostOfNibble = 15, kLeastMatchBytes = 4;

// Writes the bytes that extend a token, for the part of `value` that its nibble does not hold.
std::byte* write_extension(std::uint32_t value, std::byte* at) {
  if (value < kMostOfNibble) return at;
  value -= kMostOfNibble;
  for (; value >= 255; value -= 255) *at++ = std::byte{255};
  *at++ = static_cast<std::byte>(value);
  return at;
}

std::byte* write_literals(std::span<const std::byte> literals, std::uint32_t match_nibble, std::byte* at) {
  const auto count = static_cast<std::uint32_t>(literals.size());
  *at++ = static_cast<std::byte>(std::min(count, kMostOfNibble) << 4 | match_nibble);
  at = write_extension(count, at);
  std::memcpy(at, literals.data(), literals.size());
  return at + literals.size();
}

// Adds the bytes that follow a full nibble. False if the block ends first.
bool add_extension(std::span<const std::byte> block, std::size_t& at, std::size_t& value) {
  for (;;) {
    if (at == block.size()) return false;
    const auto more = static_cast<std::size_t>(block[at++]);
    value += more;
    if (more != 255) return true;
  }
}

}  // namespace

bool restores_same_filled(std::span<const std::byte> block, std::uint32_t page_bytes,
                          std::span<std::byte, kPageWordBytes> word) {
  std::size_t at = 0, restored = 0;
  while (at < block.size()) {
    const auto token = static_cast<std::size_t>(block[at++]);
    std::size_t literals = token >> 4;
    if (literals == kMostOfNibble && !add_extension(block, at, literals)) return false;
    if (literals > block.size() - at) return false;
    for (; literals != 0; --literals, ++restored) {
      const std::byte literal = block[at++];
      if (restored < kPageWordBytes)
        word[restored] = literal;
      else if (literal != word[restored % kPageWordBytes])
        return false;
    }
    if (at == block.size()) return restored == page_bytes;

    if (block.size() - at < 2) return false;
    const std::size_t offset = static_cast<std::size_t>(block[at]) | static_cast<std::size_t>(block[at + 1])
                                                                         << 8;
    at += 2;
    if (offset == 0 || offset > restored) return false;
    std::size_t length = token & kMostOfNibble;
    if (length == kMostOfNibble && !add_extension(block, at, length)) return false;
    length += kLeastMatchBytes;
    for (; length != 0 && restored < kPageWordBytes; --length, ++restored)
      word[restored] = word[restored - offset];
    // The bytes before repeat the word, so a word's bytes of the match speak for all of it.
    for (std::size_t i = restored; i < restored + std::min<std::size_t>(length, kPageWordBytes); ++i)
      if (word[i % kPageWordBytes] != word[(i - offset) % kPageWordBytes]) return false;
    restored += length;
  }
  return false;
}

std::uint32_t write_as_block(PageKind kind, std::span<const std::byte> kept, std::uint32_t page_bytes,
                             std::byte* block) {
  std::byte* at = block;
  if (kind == PageKind::kCompressed) {
    std::memcpy(at, kept.data(), kept.size());
    at += kept.size();
  } else if (kind == PageKind::kRaw) {
    at = write_literals(kept, 0, at);
  } else {
    // The word, a match up to the last word, and the last word as literals, since a block must end with
    // literals.
    const std::uint32_t more = page_bytes - 2 * kPageWordBytes - kLeastMatchBytes;
    at = write_literals(kept, kMostOfNibble, at);
    *at++ = static_cast<std::byte>(kPageWordBytes);
    *at++ = std::byte{0};
    at = write_extension(more, at);
    at = write_literals(kept, 0, at);
  }
  return static_cast<std::uint32_t>(at - block);
}

void check_page_options(const PageBatchOptions& options) {
  if (options.page_bytes < kMinPageBytes || options.page_bytes > kMaxPageBytes ||
      !std::has_single_bit(options.page_bytes))
    throw Error(Status::kInvalidOption,
                fmt::format("page_bytes is {}; it must be a power of two from {} to {}", options.page_bytes,
                            kMinPageBytes, kMaxPageBytes));
  if (options.level < kMinLevel || options.level > kMaxLevel)
    throw Error(Status::kInvalidOption,
                fmt::format("level is {}; it must be {} to {}", options.level, kMinLevel, kMaxLevel));
  if (options.threads > kMaxThreads)
    throw Error(Status::kInvalidOption,
                fmt::format("threads is {}; it must be at most {}", options.threads, kMaxThreads));
}

PageCodec::PageCodec(std::uint32_t page_bytes, int level)
    : page_bytes_(page_bytes),
      level_(level),
      engine_(BackendRegistry::instance().find_usable("cpu").make_engine({})) {}

EncodeParameters PageCodec::parameters() const {
  return {.format = Format::kLz4, .level = level_, .block_bytes = page_bytes_};
}

PageForm PageCodec::form_of(const BlockTask& task) {
  if (task.status == Status::kOk)
    return {PageKind::kCompressed, static_cast<std::uint32_t>(task.output_bytes)};
  return {PageKind::kRaw, static_cast<std::uint32_t>(task.input.size())};
}

PageForm PageCodec::compress(std::span<const std::byte> page, std::span<std::byte> room) const {
  if (same_filled(page)) {
    std::memcpy(room.data(), page.data(), kPageWordBytes);
    return {PageKind::kSameFilled, kPageWordBytes};
  }
  BlockTask task{.input = page, .history = {}, .output = room.first(page.size() - 1)};
  engine_->compress({&task, 1}, parameters());
  return form_of(task);
}

Status PageCodec::restore(PageKind kind, std::span<const std::byte> kept, std::span<std::byte> page) const {
  if (!legal_kept_page(kind, static_cast<std::uint32_t>(kept.size()), page_bytes_))
    return Status::kCorruptBlock;
  if (kind == PageKind::kSameFilled) {
    fill_page(kept, page);
    return Status::kOk;
  }
  if (kind == PageKind::kRaw) {
    std::memcpy(page.data(), kept.data(), page.size());
    return Status::kOk;
  }
  BlockTask task{.input = kept, .history = {}, .output = page};
  engine_->restore({&task, 1}, Format::kLz4);
  return task.status == Status::kOk && task.output_bytes == page.size() ? Status::kOk : Status::kCorruptBlock;
}

}  // namespace hemstitch
