#include "format/zstd/restore/zstd_restore_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "format/zstd/restore/zstd_bits.hpp"

namespace hemstitch {
namespace {

constexpr std::string_view kTooLarge = "a block is larger than 128 KB, or than the window (3.1.1.2.4)";

}  // namespace

ZstdReferenceDecoder::ZstdReferenceDecoder(std::uint64_t window_bytes, ZstdDictionary before)
    : window_bytes_(window_bytes),
      tables_(std::move(before.tables)),
      repeats_(before.repeats),
      dictionary_bytes_(before.content.size()),
      content_(before.content.begin(), before.content.end()),
      given_(content_.size()) {}

ZstdReferenceDecoder::ZstdReferenceDecoder(std::uint64_t window_bytes, ZstdFrameState state)
    : window_bytes_(window_bytes),
      tables_(std::move(state.tables)),
      repeats_(state.repeats),
      dictionary_bytes_(state.frame_bytes <= window_bytes ? state.dictionary.size() : 0),
      content_(std::move(state.content)),
      frame_bytes_(state.frame_bytes),
      block_number_(state.block_number) {
  content_.insert(content_.begin(), state.dictionary.begin(),
                  state.dictionary.begin() + static_cast<std::ptrdiff_t>(dictionary_bytes_));
  given_ = content_.size();
}

// Gathers the first `bytes` bytes of a block. Returns whether they are there.
bool ZstdReferenceDecoder::take(std::span<const std::byte>& input, std::size_t bytes) {
  const std::size_t count = std::min(input.size(), bytes - std::min(bytes, pending_.size()));
  pending_.insert(pending_.end(), input.begin(), input.begin() + static_cast<std::ptrdiff_t>(count));
  input = input.subspan(count);
  return pending_.size() >= bytes;
}

StreamStep ZstdReferenceDecoder::restore(std::span<const std::byte> input, std::span<std::byte> output) {
  StreamStep step;
  const std::size_t input_bytes = input.size();
  for (;;) {
    const std::size_t count = std::min(output.size() - step.output_bytes, content_.size() - given_);
    std::copy_n(content_.begin() + static_cast<std::ptrdiff_t>(given_), count,
                output.begin() + static_cast<std::ptrdiff_t>(step.output_bytes));
    given_ += count;
    step.output_bytes += count;
    step.input_bytes = input_bytes - input.size();
    if (given_ < content_.size()) return step;
    drop_old_content();
    step.ended = ended_;
    if (ended_) return step;
    try {
      const bool begun = take(input, kZstdBlockHeaderBytes);
      const ZstdBlockHeader header = begun ? read_zstd_block_header(pending_.data()) : ZstdBlockHeader();
      if (begun) check(header);
      if (!begun || !take(input, kZstdBlockHeaderBytes + header.data_bytes())) {
        step.input_bytes = input_bytes - input.size();
        return step;
      }
      restore_block(header);
    } catch (const ZstdDamage& damage) {
      step.input_bytes = input_bytes - input.size();
      step.status = Status::kCorruptBlock;
      step.detail = detail_ = fmt::format("block {}: {}", block_number_, damage.rule);
      return step;
    }
    pending_.clear();
    ++block_number_;
  }
}

void ZstdReferenceDecoder::check(const ZstdBlockHeader& header) const {
  require_zstd(header.type != ZstdBlockType::kReserved, "the type of a block is reserved (3.1.1.2.2)");
  require_zstd(header.size <= most_block_bytes(), kTooLarge);
  require_zstd(header.type != ZstdBlockType::kCompressed || header.size > 0,
               "a compressed block has no bytes (3.1.1.3)");
}

void ZstdReferenceDecoder::restore_block(const ZstdBlockHeader& header) {
  const std::span<const std::byte> data = std::span(pending_).subspan(kZstdBlockHeaderBytes);
  const std::size_t before = content_.size();
  if (header.type == ZstdBlockType::kRaw)
    content_.insert(content_.end(), data.begin(), data.end());
  else if (header.type == ZstdBlockType::kRle)
    content_.insert(content_.end(), header.size, data[0]);
  else
    restore_compressed(data);
  frame_bytes_ += content_.size() - before;
  ended_ = header.last;
}

// 3.1.1.4
void ZstdReferenceDecoder::restore_compressed(std::span<const std::byte> block) {
  const std::size_t begin = content_.size(), most_bytes = most_block_bytes();
  const ZstdLiteralsHeader header = read_zstd_literals_header(block);
  require_zstd(header.count <= most_bytes, kTooLarge);
  const std::vector<std::byte> literals = read_zstd_literals(block, header, tables_);
  auto left = literals.begin();
  const auto copy_literals = [&](std::size_t count) {
    content_.insert(content_.end(), left, left + static_cast<std::ptrdiff_t>(count));
    left += static_cast<std::ptrdiff_t>(count);
  };
  const auto restored = [&] { return content_.size() - begin; };
  ZstdSequenceReader sequences(block.subspan(header.section_bytes()), tables_);
  while (sequences.left() > 0) {
    const ZstdSequence sequence = sequences.take();
    require_zstd(sequence.literals <= static_cast<std::size_t>(literals.end() - left),
                 "a sequence takes more literals than there are (3.1.1.4)");
    require_zstd(restored() + sequence.literals + sequence.match <= most_bytes, kTooLarge);
    copy_literals(sequence.literals);
    const std::uint32_t offset = repeats_.take(sequence);
    require_zstd(offset != 0, "an offset is 0 (3.1.1.5)");
    // The dictionary is before the content as long as the window reaches it.
    const std::uint64_t at = frame_bytes_ + restored();
    require_zstd(offset <= (at <= window_bytes_ ? at + dictionary_bytes_ : window_bytes_),
                 "a match begins before the window or the content (3.1.1.5)");
    copy_match(offset, sequence.match);
  }
  const auto rest = static_cast<std::size_t>(literals.end() - left);
  require_zstd(restored() + rest <= most_bytes, kTooLarge);
  copy_literals(rest);
}

// A match may reach into what it gives itself.
void ZstdReferenceDecoder::copy_match(std::uint32_t offset, std::uint32_t count) {
  const std::size_t to = content_.size(), from = to - offset;
  content_.resize(to + count);
  for (std::size_t i = 0; i < count; ++i) content_[to + i] = content_[from + i];
}

// Keeps the window, and does not move it at each block.
void ZstdReferenceDecoder::drop_old_content() {
  constexpr std::uint64_t kSlackBytes = 1 << 20;
  if (frame_bytes_ <= window_bytes_ || content_.size() < 2 * window_bytes_ + kSlackBytes + dictionary_bytes_)
    return;
  content_.erase(content_.begin(), content_.end() - static_cast<std::ptrdiff_t>(window_bytes_));
  given_ = content_.size();
}

}  // namespace hemstitch
