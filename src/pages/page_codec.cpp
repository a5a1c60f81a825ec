#include "pages/page_codec.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "core/messages.hpp"
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

void check_page_options(const PageBatchOptions& options) {
  if (options.page_bytes < kMinPageBytes || options.page_bytes > kMaxPageBytes ||
      !std::has_single_bit(options.page_bytes))
    throw Error(Status::kInvalidOption,
                fmt::format("page_bytes is {}, it can be a power of two from {} to {}", options.page_bytes,
                            kMinPageBytes, kMaxPageBytes));
  if (options.level < kMinLevel || options.level > kMaxLevel)
    throw Error(Status::kInvalidOption, out_of_range("level", options.level, kMinLevel, kMaxLevel));
  if (options.threads > kMaxThreads)
    throw Error(Status::kInvalidOption, out_of_range("threads", options.threads, 0, kMaxThreads));
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
