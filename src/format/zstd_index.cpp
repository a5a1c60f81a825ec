#include "format/zstd_index.hpp"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/bytes.hpp"
#include "core/idle_states.hpp"
#include "core/parallel.hpp"
#include "core/status.hpp"
#include "format/checksum.hpp"
#include "format/frame_index.hpp"
#include "format/zstd/restore/zstd_sections.hpp"
#include "format/zstd/stream/zstd_block_decoder.hpp"
#include "format/zstd/stream/zstd_copy.hpp"
#include "format/zstd/stream/zstd_decoder_cpu.hpp"
#include "format/zstd/stream/zstd_words.hpp"
#include "format/zstd/zstd_library.hpp"

namespace hemstitch {
namespace {

constexpr std::array<char, 8> kIndexMagic{'Z', 'S', 'T', 'I', 'D', 'X', 0, 1};
constexpr std::size_t kSumAt = 28, kIndexHeadBytes = 32, kIndexPointBytes = 52, kProofBytes = 64;
// The least content between two points, and how much of the file the index may take.
constexpr std::uint64_t kLeastSpacingBytes = std::uint64_t{1} << 20;
constexpr double kMostPart = 0.03;
// Points keep content of the window.
constexpr std::uint64_t kMostIndexedWindowBytes = std::uint64_t{128} << 20;
// Higher levels take up to ten times as long, and make indexes a tenth smaller at most.
constexpr int kHistoryLevel = 3;
// What compressing the kept history is expected to gain, before it is tried.
constexpr std::uint64_t kExpectedRatio = 4;

// Of a dictionary, tables that nothing uses: for each kind of code one of one symbol (4.1.1), and a tree of two symbols
// of one bit (4.2.1.1).
constexpr std::uint32_t kDictionaryMagic = 0xEC30A437;
constexpr std::array<std::uint8_t, 6> kUnusedTables{0xF0, 0x03, 0xF0, 0x03, 0xF0, 0x03};
constexpr std::array kUnusedTree{std::byte{0x80}, std::byte{0x10}};
constexpr std::uint32_t kMostTreeBytes = 129;

std::uint32_t checksum32(std::span<const std::byte> bytes) { return checksum_of(Checksum::kXxh64, bytes); }

// Which of some bytes are needed.
class NeededBytes {
 public:
  explicit NeededBytes(std::uint64_t bytes = 0)
      : bytes_(bytes), words_((bytes + kWordBits - 1) / kWordBits) {}

  std::uint64_t count() const { return count_; }

  void add(std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
      const unsigned bit = begin % kWordBits;
      const std::uint64_t some = std::min(end - begin, kWordBits - bit);
      const std::uint64_t bits = (~std::uint64_t{0} >> (kWordBits - some)) << bit;
      std::uint64_t& word = words_[begin / kWordBits];
      count_ += static_cast<unsigned>(std::popcount(bits & ~word));
      word |= bits;
      begin += some;
    }
  }
  // Calls run(begin, end) for those in a row, in order.
  template <class Run>
  void for_runs(const Run& run) const {
    for (std::uint64_t end = 0; end < bytes_;) {
      const std::uint64_t begin = next(end, 0);
      end = next(begin, ~std::uint64_t{0});
      if (begin < end) run(begin, end);
    }
  }

 private:
  static constexpr std::uint64_t kWordBits = 64;

  // The first byte from there on that is needed, or with all bits in `flip` that is not; else the end.
  std::uint64_t next(std::uint64_t from, std::uint64_t flip) const {
    if (from >= bytes_) return bytes_;
    std::uint64_t i = from / kWordBits, word = (words_[i] ^ flip) & ~std::uint64_t{0} << from % kWordBits;
    while (word == 0 && ++i < words_.size()) word = words_[i] ^ flip;
    return std::min(bytes_, i * kWordBits + static_cast<unsigned>(std::countr_zero(word)));
  }

  std::uint64_t bytes_;
  std::vector<std::uint64_t> words_;
  std::uint64_t count_ = 0;
};

// A point whose part of the content is not over yet.
struct OpenPoint {
  ZstdIndexedPoint point;
  std::vector<std::byte> history = {};  // all of the window before it
  NeededBytes needed = NeededBytes();   // of that
  ZstdDescription tree = nullptr;       // and perhaps a few bytes more
  bool is_placed = false;               // its place is that in the file, not in its frame

  std::uint64_t history_at() const { return point.content_at - history.size(); }
  // Bytes of the content from the history's beginning on.
  void need(std::uint64_t from, std::uint64_t to) {
    if (from >= history_at()) needed.add(from - history_at(), std::min(to, point.content_at) - history_at());
  }
};

// A point with what is kept of its history, compressed.
struct ClosedPoint {
  ZstdIndexedPoint point;
  std::vector<std::byte> stored;
  bool is_placed = false;
};

// 4.2.1: the description of the literals' tree, at the start of their data.
std::span<const std::byte> tree_of(const ZstdDescription& data) {
  constexpr std::size_t kDirect = 128;
  if (!data) return {};
  const auto head = static_cast<std::size_t>(data->front());
  const std::size_t bytes = 1 + (head < kDirect ? head : (head - kDirect + 2) / 2);
  return std::span(*data).first(std::min(bytes, data->size()));
}

ClosedPoint closed(const OpenPoint& open) {
  ClosedPoint closed{open.point, {}, open.is_placed};
  const std::span<const std::byte> tree = tree_of(open.tree);
  std::vector<std::byte> kept(tree.begin(), tree.end());
  std::uint64_t first = open.history.size();  // that is needed; zeros stand for those behind it that are not
  open.needed.for_runs([&](std::uint64_t begin, std::uint64_t end) {
    first = std::min(first, begin);
    kept.resize(tree.size() + begin - first);
    kept.insert(kept.end(), open.history.begin() + static_cast<std::ptrdiff_t>(begin),
                open.history.begin() + static_cast<std::ptrdiff_t>(end));
  });
  closed.point.tree_bytes = static_cast<std::uint32_t>(tree.size());
  closed.point.history_bytes = static_cast<std::uint32_t>(open.history.size() - first);
  kept.resize(tree.size() + closed.point.history_bytes);
  if (kept.empty()) return closed;
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  if (!context) throw_no_memory_for_zstd();
  checked_zstd(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kHistoryLevel));
  checked_zstd(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1));
  closed.stored.resize(ZSTD_compressBound(kept.size()));
  closed.stored.resize(checked_zstd(
      ZSTD_compress2(context.get(), closed.stored.data(), closed.stored.size(), kept.data(), kept.size())));
  closed.point.stored_bytes = static_cast<std::uint32_t>(closed.stored.size());
  return closed;
}

// Gathers the points of a file.
class PointsOfFile {
 public:
  explicit PointsOfFile(std::uint64_t file_bytes) : file_bytes_(file_bytes) {}

  // ---- Of the frame that is being read. Places in the file are those of its blocks' bytes, until it ends. ----
  void begin_frame(std::uint64_t window_bytes) {
    window_bytes_ = window_bytes;
    first_of_frame_ = points_.size();
    frame_content_at_ = content_at_;
    recent_.clear();
    tree_.reset();
    offsets_ = {};
    taken_bytes_ = 0;
    if (!open_ || content_at_ - open_->point.content_at >= kLeastSpacingBytes) {
      close();
      open_ = OpenPoint{here()};
    }
  }
  // A block and its content; `offsets` are the last three after it.
  void pass_block(const ZstdWalkedBlock& block, const ZstdDecodedBlock& decoded,
                  std::span<const std::byte> content, const ZstdOffsets& offsets) {
    if (!decoded.sequences.empty()) {
      if (has_own_tables(block)) maybe_open();
      follow(decoded.sequences);
    }
    tree_ = block.origins.literals;
    offsets_ = offsets;
    content_at_ += content.size();
    taken_bytes_ += kZstdBlockHeaderBytes + block.data.size();
    recent_.insert(recent_.end(), content.begin(), content.end());
    if (recent_.size() > 2 * window_bytes_ + kLeastSpacingBytes)
      recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(window_bytes_));
  }
  // `frame_end` is the place of what follows in the file.
  void end_frame(std::uint64_t frame_end, bool has_checksum) {
    const std::uint64_t blocks_at = frame_end - (has_checksum ? kChecksumBytes : 0) - taken_bytes_;
    const auto place = [&](auto& one) {
      if (std::exchange(one.is_placed, true)) return;
      one.point.at += blocks_at;
      one.point.has_checksum = has_checksum;
    };
    for (std::size_t i = first_of_frame_; i < points_.size(); ++i) place(points_[i]);
    if (previous_) place(*previous_);
    if (open_) place(*open_);
    passed_bytes_ = frame_end;
    taken_bytes_ = 0;
  }

  std::vector<ClosedPoint> finish() {
    close();
    return std::move(points_);
  }
  std::uint64_t content_bytes() const { return content_at_; }

 private:
  ZstdIndexedPoint here() const {
    ZstdIndexedPoint point;
    point.at = taken_bytes_;
    point.content_at = content_at_;
    point.window_bytes = window_bytes_;
    point.repeats = offsets_.offsets;
    return point;
  }

  // A frame has ended, or the file. A last point that costs too much is given up: the one before it in its frame then
  // needs what it needed.
  void close() {
    if (!open_) return;
    ClosedPoint last = closed(*open_);
    const auto all = static_cast<double>(spent_ + kIndexPointBytes + last.stored.size());
    if (previous_ && all > kMostPart * static_cast<double>(file_bytes_)) {
      spent_ -= points_.back().stored.size();
      const std::uint64_t begin = open_->history_at();
      open_->needed.for_runs([&](std::uint64_t from, std::uint64_t to) {
        if (begin + from < previous_->point.content_at) previous_->need(begin + from, begin + to);
      });
      points_.back() = closed(*previous_);
    } else {
      points_.push_back(std::move(last));
      spent_ += kIndexPointBytes;
    }
    spent_ += points_.back().stored.size();
    open_.reset();
    previous_.reset();
  }
  // Whether the open point may be closed here, if it costs this much, so that another one may follow it.
  bool is_affordable(std::uint64_t cost) const {
    const auto passed = static_cast<double>(passed_bytes_ + taken_bytes_);
    const double most = kMostPart * static_cast<double>(file_bytes_);
    const auto after = static_cast<double>(spent_ + cost + kIndexPointBytes);
    // The last point has to be paid for as well.
    return after <= kMostPart * passed &&
           after + 1.5 * static_cast<double>(std::max(cost, last_cost_)) <= most;
  }

  // Whether a block has tables of its own for its sequences, so that none behind its beginning uses one from before.
  static bool has_own_tables(const ZstdWalkedBlock& block) {
    for (std::size_t kind = 0; kind < kZstdCodeKinds.size(); ++kind)
      if (zstd_table_mode(block.sequence_section, kind) == ZstdTableMode::kRepeat) return false;
    return true;
  }

  // Before a block with tables of its own.
  void maybe_open() {
    if (content_at_ - open_->point.content_at < kLeastSpacingBytes ||
        !is_affordable(std::max(open_->needed.count() / kExpectedRatio, next_cost_)))
      return;
    ClosedPoint before = closed(*open_);
    const std::uint64_t cost = before.stored.size();
    next_cost_ = cost + cost / 8;
    if (!is_affordable(cost)) return;
    spent_ += kIndexPointBytes + cost;
    last_cost_ = cost;
    next_cost_ = 0;
    points_.push_back(std::move(before));
    previous_ = std::move(open_);
    const std::uint64_t history_bytes = std::min(window_bytes_, content_at_ - frame_content_at_);
    open_ = OpenPoint{here(),
                      {recent_.end() - static_cast<std::ptrdiff_t>(history_bytes), recent_.end()},
                      NeededBytes(history_bytes),
                      tree_};
  }

  // Which content the matches of a block reach.
  void follow(std::span<const ZstdShortSequence> sequences) {
    std::uint64_t at = content_at_;
    if (at - open_->point.content_at >= window_bytes_) return;
    for (const ZstdShortSequence& sequence : sequences) {
      at += sequence.literals;
      const std::uint64_t from = at - static_cast<std::uint64_t>(offsets_.resolved(sequence.offset));
      if (from < open_->point.content_at) open_->need(from, from + sequence.match);
      at += sequence.match;
    }
  }

  std::uint64_t file_bytes_, spent_ = kIndexHeadBytes, last_cost_ = 0, next_cost_ = 0;
  std::uint64_t passed_bytes_ = 0;  // of the file, before this frame's blocks
  std::uint64_t content_at_ = 0;
  std::vector<ClosedPoint> points_;
  std::optional<OpenPoint> previous_, open_;  // the previous one is of the same frame, and closed

  std::uint64_t window_bytes_ = 0, frame_content_at_ = 0, taken_bytes_ = 0;
  std::size_t first_of_frame_ = 0;
  std::vector<std::byte> recent_;  // the last content of the frame, the window at least
  ZstdDescription tree_;           // of the last literals
  ZstdOffsets offsets_;            // the last three
};

// Restores a frame, and shows its blocks. While the threads of the caller's arena decode some blocks, one of them makes content of
// those before.
class IndexingDecoder : public StreamDecoder {
 public:
  IndexingDecoder(const FrameHeader& header, IdleStates<ZstdBlockDecoder>& decoders, PointsOfFile& points)
      : most_block_bytes_(std::min<std::size_t>(header.history_bytes, kZstdMostBlockBytes)),
        walk_(most_block_bytes_),
        content_(header.history_bytes, 0),
        decoders_(decoders),
        points_(points) {
    points_.begin_frame(header.history_bytes);
  }

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte>) override {
    StreamStep step;
    for (;;) {
      if (taken_.size() == taken_count_) taken_.emplace_back();
      Block& block = taken_[taken_count_];
      const std::size_t wanted = block.wanted_bytes();
      const auto more = input.subspan(step.input_bytes)
                            .first(std::min(wanted - block.bytes, input.size() - step.input_bytes));
      block.take(more);
      step.input_bytes += more.size();
      if (block.bytes < wanted) {
        step.wants_input = !input.empty();
        return step;
      }
      const ZstdBlockHeader header = read_zstd_block_header(block.begin());
      const bool damaged = walk_.is_damaged(header);
      if (!damaged && block.bytes < block.wanted_bytes()) continue;
      block.walked =
          walk_.walk(header, {block.begin() + kZstdBlockHeaderBytes, block.bytes - kZstdBlockHeaderBytes});
      ++taken_count_;
      const bool ends = header.last || damaged;
      if (ends || taken_count_ == kBlocksAtOnce) work();
      if (ends) work();
      if (is_damaged_) step.status = Status::kCorruptBlock;
      step.ended = ends && !is_damaged_;
      if (ends || is_damaged_) return step;
    }
  }

 private:
  static constexpr std::size_t kBlocksAtOnce = 32;

  struct Block {
    std::vector<std::byte> memory = std::vector<std::byte>(kZstdReadBeyond);
    std::size_t bytes = 0;  // with its header, behind kZstdReadBeyond
    ZstdWalkedBlock walked;
    std::vector<std::byte> literals;
    std::vector<ZstdShortSequence> sequences;
    ZstdDecodedBlock decoded;

    const std::byte* begin() const { return memory.data() + kZstdReadBeyond; }
    // The header first, then the data.
    std::size_t wanted_bytes() const {
      return kZstdBlockHeaderBytes +
             (bytes < kZstdBlockHeaderBytes ? 0 : read_zstd_block_header(begin()).data_bytes());
    }
    void take(std::span<const std::byte> more) {
      memory.resize(std::max(memory.size(), bytes + more.size() + 2 * kZstdReadBeyond));
      std::ranges::copy(more, memory.begin() + static_cast<std::ptrdiff_t>(kZstdReadBeyond + bytes));
      bytes += more.size();
    }
  };

  // Makes content of the blocks that are decoded, and decodes those that were taken.
  void work() {
    run_in_parallel(1 + taken_count_, 1, [&](std::size_t i) {
      if (i == 0)
        pass_decoded();
      else
        decode(taken_[i - 1]);
    });
    std::swap(taken_, decoded_);
    decoded_count_ = std::exchange(taken_count_, 0);
    for (Block& block : taken_) block.bytes = 0;
  }
  void decode(Block& block) {
    block.literals.resize(std::max(
        block.literals.size(), std::min(block.walked.literals.count, kZstdMostBlockBytes) + kZstdReadBeyond));
    block.sequences.resize(std::max(
        block.sequences.size(), std::min(block.walked.sequences, kZstdMostSequences) + kZstdSplitSequences));
    block.decoded = decoders_.borrow()->decode(block.walked, most_block_bytes_, block.literals.data(),
                                               block.sequences.data());
  }
  void pass_decoded() {
    for (std::size_t i = 0; i < decoded_count_ && !is_damaged_; ++i) {
      const Block& block = decoded_[i];
      const auto content = content_.add(block.decoded, block.walked.header.type);
      is_damaged_ = !content;
      if (content) points_.pass_block(block.walked, block.decoded, *content, content_.offsets());
    }
  }

  std::size_t most_block_bytes_;
  ZstdWalk walk_;
  ZstdContent content_;
  IdleStates<ZstdBlockDecoder>& decoders_;
  PointsOfFile& points_;
  // Those that are not decoded, with one of which not everything has come, and those whose content is not made. Their
  // memory is used again.
  std::vector<Block> taken_, decoded_;
  std::size_t taken_count_ = 0, decoded_count_ = 0;
  bool is_damaged_ = false;
};

std::uint32_t proof_at(Source& file, std::uint64_t at) {
  std::array<std::byte, kProofBytes> bytes;
  if (!file.seek(at)) return 0;
  return checksum32(std::span(bytes).first(file.read(bytes)));
}

}  // namespace

std::uint64_t most_zstd_index_bytes(std::uint64_t file_bytes) {
  return file_bytes / 16 + (std::uint64_t{1} << 20);
}

std::vector<std::byte> make_zstd_index(Source& source, unsigned threads) {
  const std::uint64_t file_bytes = source.total_bytes().value_or(0);
  IdleStates<ZstdBlockDecoder> decoders;
  PointsOfFile points(file_bytes);
  const auto make_decoder = [&](const FrameFormat&,
                                const FrameHeader& header) -> std::unique_ptr<StreamDecoder> {
    if (header.history_bytes > kMostIndexedWindowBytes)
      throw Error(Status::kUnsupportedFeature,
                  "an index can only be made of frames with windows of at most 128 MB");
    return std::make_unique<IndexingDecoder>(header, decoders, points);
  };
  source.seek(0);
  const auto end_frame = [&](const IndexedFrame* frame) {
    if (frame == nullptr || frame->skippable) return;
    if (frame->header.block_kind != BlockKind::kStream)
      throw Error(Status::kUnsupportedFeature, "the file ends with a seek table, so it needs no index",
                  {std::nullopt, std::nullopt, frame->at});
    points.end_frame(frame->at + frame->bytes, frame->header.content_checksum);
  };
  run_on_threads(threads, [&] { index_frames(source, make_decoder, nullptr, end_frame); });
  const std::uint64_t content_bytes = points.content_bytes();
  const std::vector<ClosedPoint> closed_points = points.finish();
  std::vector<std::byte> index(kIndexHeadBytes + closed_points.size() * kIndexPointBytes);
  std::ranges::copy(std::as_bytes(std::span(kIndexMagic)), index.begin());
  store_le64(&index[8], file_bytes);
  store_le64(&index[16], content_bytes);
  store_le32(&index[24], static_cast<std::uint32_t>(closed_points.size()));
  std::byte* to = index.data() + kIndexHeadBytes;
  for (const ClosedPoint& closed : closed_points) {
    const ZstdIndexedPoint& point = closed.point;
    store_le64(to, point.at);
    store_le64(to + 8, point.content_at);
    store_le64(to + 16, point.window_bytes);
    for (std::size_t i = 0; i < 3; ++i) store_le32(to + 24 + 4 * i, point.repeats[i]);
    store_le32(to + 36, point.history_bytes);
    store_le32(to + 40, point.stored_bytes);
    store_le32(to + 44, proof_at(source, point.at));
    store_le32(to + 48, (point.has_checksum ? 1 : 0) | point.tree_bytes << 8);
    to += kIndexPointBytes;
  }
  store_le32(&index[kSumAt], checksum32(index));
  for (const ClosedPoint& closed : closed_points)
    index.insert(index.end(), closed.stored.begin(), closed.stored.end());
  return index;
}

std::optional<ZstdIndexReader> ZstdIndexReader::of(Source& index, std::uint64_t file_bytes) {
  std::vector<std::byte> head(kIndexHeadBytes);
  if (!index.seek(0) || index.read(head) != head.size() ||
      !std::ranges::equal(std::as_bytes(std::span(kIndexMagic)), std::span(head).first(kIndexMagic.size())) ||
      load_le64(&head[8]) != file_bytes)
    return std::nullopt;
  const std::uint64_t count = load_le32(&head[24]), index_bytes = index.total_bytes().value_or(0);
  const std::uint64_t points_end = kIndexHeadBytes + count * kIndexPointBytes;
  if (points_end > index_bytes) return std::nullopt;
  head.resize(static_cast<std::size_t>(points_end));
  const auto rest = std::span(head).subspan(kIndexHeadBytes);
  if (index.read(rest) != rest.size()) return std::nullopt;
  const std::uint32_t sum = load_le32(&head[kSumAt]);
  store_le32(&head[kSumAt], 0);
  if (checksum32(head) != sum) return std::nullopt;
  ZstdIndexReader reader;
  reader.content_bytes_ = load_le64(&head[16]);
  std::uint64_t stored_at = points_end, at = 0, content_at = 0;
  for (const std::byte* from = head.data() + kIndexHeadBytes; from != head.data() + head.size();
       from += kIndexPointBytes) {
    ZstdIndexedPoint& point = reader.points_.emplace_back();
    point.at = load_le64(from);
    point.content_at = load_le64(from + 8);
    point.window_bytes = load_le64(from + 16);
    for (std::size_t i = 0; i < 3; ++i) point.repeats[i] = load_le32(from + 24 + 4 * i);
    point.history_bytes = load_le32(from + 36);
    point.stored_bytes = load_le32(from + 40);
    point.proof = load_le32(from + 44);
    point.has_checksum = (load_le32(from + 48) & 1) != 0;
    point.tree_bytes = load_le32(from + 48) >> 8;
    point.stored_at = stored_at;
    stored_at += point.stored_bytes;
    // All of this is so in an index that was made.
    if (point.at < at || point.at >= file_bytes || point.content_at < content_at ||
        point.content_at > reader.content_bytes_ || stored_at > index_bytes ||
        point.tree_bytes > kMostTreeBytes ||
        (point.history_bytes != 0 && point.window_bytes > kMostIndexedWindowBytes) ||
        point.history_bytes > std::min(point.window_bytes, point.content_at))
      return std::nullopt;
    at = point.at;
    content_at = point.content_at;
  }
  if (reader.points_.empty() ? reader.content_bytes_ != 0 : reader.points_.front().content_at != 0)
    return std::nullopt;
  return reader;
}

const ZstdIndexedPoint* ZstdIndexReader::nearest(std::uint64_t content_at) const {
  const auto after = std::ranges::upper_bound(points_, content_at, {}, &ZstdIndexedPoint::content_at);
  return after == points_.begin() ? nullptr : &*(after - 1);
}

std::unique_ptr<StreamDecoder> ZstdIndexReader::decoder_at(Source& index, const ZstdIndexedPoint& point,
                                                           Source& file) {
  if (proof_at(file, point.at) != point.proof) return nullptr;
  // An offset may reach before what is needed.
  std::uint32_t before_bytes = point.history_bytes;
  for (const std::uint32_t offset : point.repeats) before_bytes = std::max(before_bytes, offset);
  if (before_bytes > kMostIndexedWindowBytes || point.window_bytes > kMostIndexedWindowBytes) return nullptr;
  std::vector<std::byte> dictionary;
  const auto add = [&](std::span<const std::byte> bytes) {
    dictionary.insert(dictionary.end(), bytes.begin(), bytes.end());
  };
  const auto add_number = [&](std::uint32_t number) {
    dictionary.resize(dictionary.size() + 4);
    store_le32(&dictionary[dictionary.size() - 4], number);
  };
  const std::size_t kept_bytes = std::size_t{point.tree_bytes} + point.history_bytes;
  if (kept_bytes != 0 || point.repeats != ZstdRepeats().offsets()) {
    std::vector<std::byte> stored(point.stored_bytes), kept(kept_bytes);
    if (kept_bytes != 0 &&
        (!index.seek(point.stored_at) || index.read(stored) != stored.size() ||
         ZSTD_decompress(kept.data(), kept.size(), stored.data(), stored.size()) != kept.size()))
      return nullptr;
    add_number(kDictionaryMagic);
    add_number(1);  // its id, which no frame names
    if (point.tree_bytes != 0)
      add(std::span(kept).first(point.tree_bytes));
    else
      add(kUnusedTree);
    add(std::as_bytes(std::span(kUnusedTables)));
    for (const std::uint32_t offset : point.repeats) add_number(offset);
    dictionary.resize(dictionary.size() + before_bytes - point.history_bytes);
    add(std::span(kept).subspan(point.tree_bytes));
  }
  static ZstdDecoderStates states;
  FrameHeader header;
  header.history_bytes = static_cast<std::size_t>(point.window_bytes);
  return std::make_unique<ZstdCpuDecoder>(states, header, dictionary);
}

}  // namespace hemstitch
