#include "format/zstd/compress/zstd_join.hpp"

#include <array>
#include <tuple>
#include <utility>

#include "format/zstd/block/zstd_block_header.hpp"
#include "format/zstd/compress/zstd_sequence_writer.hpp"
#include "format/zstd/restore/zstd_sections.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kOffsets = 1;  // the place of their table among the three

class Joiner {
 public:
  explicit Joiner(std::span<std::byte> blocks)
      : blocks_(blocks),
        predefined_(make_zstd_table(kZstdOffsetKind.predefined, kZstdOffsetKind.predefined_log)) {}

  std::optional<std::vector<std::byte>> join() {
    for (bool last = false; !last;) {
      std::byte* const at = blocks_.data() + at_;
      ZstdBlockHeader header = read_zstd_block_header(at);
      last = header.last;
      header.last = false;
      put_zstd_block_header(header, at);
      const std::span<const std::byte> data(at + kZstdBlockHeaderBytes, header.data_bytes());
      const auto block = std::span<const std::byte>(at, kZstdBlockHeaderBytes + data.size());
      at_ += block.size();
      const bool settled = encoder_ == decoder_ && !lacks_table_;
      if (settled || header.type != ZstdBlockType::kCompressed || !needs_rewriting(data)) {
        if (rewritten_) rewritten_->insert(rewritten_->end(), block.begin(), block.end());
      } else {
        if (!rewritten_) rewritten_.emplace(blocks_.begin(), blocks_.begin() + (at - blocks_.data()));
        rewrite(data);
      }
    }
    return std::move(rewritten_);
  }

 private:
  // Follows the offsets of a block, as far as the two sides differ.
  bool needs_rewriting(std::span<const std::byte> data) {
    const ZstdLiteralsHeader literals = read_zstd_literals_header(data);
    before_ = {encoder_, decoder_};
    ZstdSequenceReader reader(data.subspan(literals.section_bytes()), tables_);
    if (reader.left() == 0) return false;
    if (lacks_table_ && reader.modes[kOffsets] == ZstdTableMode::kRepeat) return true;
    lacks_table_ = false;
    while (reader.left() > 0 && encoder_ != decoder_) {
      const ZstdSequence sequence = reader.take();
      if (encoder_.take(sequence) != decoder_.take(sequence)) return true;
    }
    return false;
  }

  void rewrite(std::span<const std::byte> data) {
    std::tie(encoder_, decoder_) = before_;
    const std::size_t literals_bytes = read_zstd_literals_header(data).section_bytes();
    ZstdSequenceReader reader(data.subspan(literals_bytes), tables_);
    std::vector<ZstdSequence> sequences;
    while (reader.left() > 0) {
      ZstdSequence sequence = reader.take();
      const std::uint32_t offset = encoder_.take(sequence);
      if (decoder_.peek(sequence) != offset) sequence.offset_value = offset + kZstdRepeatCount;
      decoder_.take(sequence);
      sequences.push_back(sequence);
    }
    auto modes = reader.modes;
    auto descriptions = reader.descriptions;
    modes[kOffsets] = ZstdTableMode::kPredefined;
    descriptions[kOffsets] = {};
    lacks_table_ = true;
    const auto section = write_zstd_sequences(sequences, modes, descriptions,
                                              {&*tables_.literal_codes, &predefined_, &*tables_.match_codes});
    require_zstd(section.has_value(), "an offset is too large for the predefined table");
    std::array<std::byte, kZstdBlockHeaderBytes> head;
    put_zstd_block_header({false, ZstdBlockType::kCompressed, literals_bytes + section->size()}, head.data());
    rewritten_->insert(rewritten_->end(), head.begin(), head.end());
    rewritten_->insert(rewritten_->end(), data.begin(),
                       data.begin() + static_cast<std::ptrdiff_t>(literals_bytes));
    rewritten_->insert(rewritten_->end(), section->begin(), section->end());
    require_zstd(literals_bytes + section->size() <= kZstdMostBlockBytes, "a block became too large");
  }

  std::span<std::byte> blocks_;
  std::size_t at_ = 0;
  ZstdTable predefined_;
  ZstdKeptTables tables_;                         // as they are in `blocks`
  ZstdRepeats encoder_;                           // the offsets as the encoder takes them
  ZstdRepeats decoder_ = ZstdRepeats::unknown();  // and as a decoder will have them
  std::pair<ZstdRepeats, ZstdRepeats> before_;
  bool lacks_table_ = false;  // the last own table of offsets is not in what was written
  std::optional<std::vector<std::byte>> rewritten_;
};

}  // namespace

void unmark_last_zstd_block(std::span<std::byte> blocks) {
  for (std::size_t at = 0;;) {
    ZstdBlockHeader header = read_zstd_block_header(blocks.data() + at);
    if (header.last) {
      header.last = false;
      return put_zstd_block_header(header, blocks.data() + at);
    }
    at += kZstdBlockHeaderBytes + header.data_bytes();
  }
}

std::optional<std::vector<std::byte>> join_zstd_blocks(std::span<std::byte> blocks) {
  return Joiner(blocks).join();
}

}  // namespace hemstitch
