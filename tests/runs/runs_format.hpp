// A format with all that DEFLATE's will ask for and LZ4's does not: frames whose blocks cannot be told apart from outside,
// blocks that end inside a byte, checksums and sizes of their content. Only a test program adds it.
//
//   frame:   "RUNS" | 0: blocks, 1: a stream, 2: blocks that are restored in order; 1 byte | 3 bytes of 0
//            | the blocks, or the stream | CRC-32 of the content, 4 bytes | its size modulo 2^32, 4 bytes
//   blocks:  for each: size of its data, 4 bytes, with the highest bit where it is stored | its data
//            | how many bits of the last byte are data, 1 byte | CRC-32 of its content, 4 bytes | its size, 4 bytes
//            then 4 bytes of 0
//   stream:  parts, each with 5 bytes before it: 0: runs, 1: stored; 1 byte | size of what is stored, 4 bytes
//            then 2, 1 byte | 4 bytes of 0
//   runs:    half bytes, the lower one of a byte first. A run takes three: how often, 1 to 15; the byte, its lower half first.
//            In a stream, 0 for how often ends a part, with the byte in which it stands.
//
// Numbers are little-endian. A block holds 1 to 65536 bytes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include "core/bytes.hpp"
#include "format/codec.hpp"
#include "format/formats.hpp"

namespace hemstitch::testing {

inline constexpr Format kRuns = static_cast<Format>(101);
inline constexpr std::array<std::string_view, 1> kRunsFirstBytes{"RUNS"};
inline constexpr std::uint32_t kRunsMagic = 0x534E5552;
inline constexpr std::array<std::size_t, 1> kRunsBlockSizes{64 << 10};
inline constexpr std::uint32_t kStoredRunsBit = 0x80000000u;
inline constexpr unsigned kRunsPart = 0, kStoredPart = 1, kEndPart = 2;

// Blocks may refer to more than those of LZ4 and DEFLATE, although runs refer to nothing.
inline constexpr std::size_t kRunsHistoryBytes = 200'000;
inline std::atomic<std::size_t> most_runs_history_bytes = 0;  // that a codec got

// As many bits as a block's data must have in its last byte, by its size: three half bytes a run.
inline unsigned runs_last_byte_bits(std::size_t data_bytes) { return data_bytes % 3 == 2 ? 4 : 8; }

class RunsReader : public FrameReader {
 public:
  Event read(std::span<const std::byte> bytes) override {
    if (state_ == State::kMagic) return read_magic(bytes);
    require_bytes(bytes.size());
    position_ += bytes.size();
    switch (state_) {
      case State::kMagic:
        break;
      case State::kHeader:
        return read_header(static_cast<unsigned>(bytes[0]));
      case State::kBlockSize:
        return read_block_size(load_le32(bytes.data()));
      case State::kBlock:
        return read_block(bytes);
      case State::kEnd:
        content_checksum_ = load_le32(bytes.data());
        content_bytes_low_ = load_le32(bytes.data() + 4);
        return want(State::kMagic, kIdentifyBytes, Event::kFrameEnd);
    }
    fail(Status::kInternal, "the reader is in no state");
  }
  std::unique_ptr<FrameReader> clone() const override { return std::make_unique<RunsReader>(*this); }

 private:
  enum class State { kMagic, kHeader, kBlockSize, kBlock, kEnd };

  Event want(State state, std::size_t bytes, Event event) {
    state_ = state;
    wanted_bytes_ = bytes;
    in_block_ = state == State::kBlock;
    return event;
  }
  void leave_block() override { want(State::kBlockSize, 4, Event::kBlockEnd); }
  void leave_stream() override { want(State::kEnd, 8, Event::kMore); }

  Event read_magic(std::span<const std::byte> bytes) {
    if (bytes.empty()) return Event::kEnd;
    if (bytes.size() < 4 || load_le32(bytes.data()) != kRunsMagic) return report_garbage(bytes);
    enter_frame(position_);
    position_ += bytes.size();
    content_bytes_low_.reset();
    return want(State::kHeader, 4, Event::kMore);
  }
  Event read_header(unsigned kind) {
    constexpr std::array kKinds{BlockKind::kIndependent, BlockKind::kStream, BlockKind::kLinked};
    if (kind >= kKinds.size()) fail(Status::kCorruptHeader, "a frame of no kind");
    header_.kind = header_.description = "runs";
    header_.block_kind = kKinds[kind];
    header_.block_content_checksums = kind != 1;
    header_.content_checksum = true;
    header_.block_bytes = header_.most_data_bytes = kRunsBlockSizes[0];
    if (kind == 2) header_.history_bytes = kRunsHistoryBytes;
    in_stream_ = kind == 1;
    return want(State::kBlockSize, 4, Event::kFrameBegin);
  }
  Event read_block_size(std::uint32_t word) {
    if (word == 0) return want(State::kEnd, 8, Event::kMore);
    const std::uint32_t bytes = word & ~kStoredRunsBit;
    if (bytes > header_.block_bytes || bytes == 0) fail(Status::kCorruptBlock, "no block is that large");
    block_ = {bytes, (word & kStoredRunsBit) != 0, std::nullopt, block_.number + 1, position_ - 4};
    return want(State::kBlock, bytes + 9, Event::kBlockBegin);
  }
  Event read_block(std::span<const std::byte> bytes) {
    const std::byte* const behind = bytes.data() + block_.data_bytes;
    const unsigned bits = block_.stored ? 8 : runs_last_byte_bits(block_.data_bytes);
    if (static_cast<unsigned>(behind[0]) != bits) fail(Status::kCorruptBlock, "the data ends at another bit");
    block_.content_checksum = load_le32(behind + 1);
    block_.content_bytes = load_le32(behind + 5);
    if (*block_.content_bytes > header_.block_bytes) fail(Status::kCorruptBlock, "no block holds that much");
    leave_block();
    return Event::kBlockEnd;
  }

  State state_ = State::kMagic;
};

// With linked blocks it writes a stream.
class RunsWriter : public FrameWriter {
 public:
  explicit RunsWriter(bool stream) : stream_(stream) {}

  FrameRoom room() const override {
    return {.header_bytes = 8,
            .before_block_bytes = stream_ ? 5u : 4u,
            .behind_block_bytes = stream_ ? 1u : 9u,
            .end_bytes = 13};
  }
  FrameLayout layout(std::uint64_t content_bytes) const override {
    return {content_bytes, kRunsBlockSizes[0], false};
  }
  std::size_t history_bytes() const override { return stream_ ? kRunsHistoryBytes : 0; }
  bool has_block_content_checksums() const override { return !stream_; }
  bool has_content_checksum() const override { return true; }

  std::size_t write_header(std::optional<std::uint64_t>, std::byte* to) const override {
    store_le32(to, kRunsMagic);
    store_le32(to + 4, stream_ ? 1 : 0);
    return 8;
  }
  bool states_content_bytes() const override { return false; }
  void write_before(const Block& block, std::byte* to) const override {
    const auto bytes = static_cast<std::uint32_t>(block.bytes().size());
    if (stream_) {
      to[0] = static_cast<std::byte>(block.data ? kRunsPart : kStoredPart);
      store_le32(to + 1, block.data ? 0 : bytes);
    } else {
      store_le32(to, bytes | (block.data ? 0 : kStoredRunsBit));
    }
  }
  std::size_t write_behind(const Block& block, std::byte* to) const override {
    if (stream_) {  // the end of a part has half a byte left, or takes the next one
      if (!block.data || block.last_byte_bits == 4) return 0;
      to[0] = std::byte{0};
      return 1;
    }
    to[0] = static_cast<std::byte>(block.last_byte_bits);
    store_le32(to + 1, block.content_checksum.value());
    store_le32(to + 5, static_cast<std::uint32_t>(block.content.size()));
    return 9;
  }
  std::size_t write_last_byte(std::byte, std::byte*) const override { return 0; }
  std::size_t write_end(std::uint64_t content_bytes, std::optional<std::uint32_t> content_checksum,
                        std::byte* to) const override {
    std::byte* at = to;
    if (stream_) *at++ = static_cast<std::byte>(kEndPart);
    store_le32(at, 0);
    store_le32(at + 4, content_checksum.value());
    store_le32(at + 8, static_cast<std::uint32_t>(content_bytes));
    return static_cast<std::size_t>(at + 12 - to);
  }

 private:
  bool stream_;
};

class RunsFormat : public FrameFormat {
 public:
  Format id() const override { return kRuns; }
  std::string_view name() const override { return "runs"; }
  std::string_view title() const override { return "Runs"; }
  std::string_view suffix() const override { return ".runs"; }
  std::span<const std::string_view> first_bytes() const override { return kRunsFirstBytes; }
  std::span<const std::size_t> block_sizes() const override { return kRunsBlockSizes; }
  LevelRange levels() const override { return {-7, 22}; }
  FormatChoices choices() const override { return {.linked_blocks = true, .dictionary = true}; }
  std::size_t history_bytes() const override { return kRunsHistoryBytes; }
  Checksum checksum() const override { return Checksum::kCrc32; }
  std::uint64_t most_content_of_byte() const override { return 15; }
  std::unique_ptr<FrameReader> make_reader(bool) const override { return std::make_unique<RunsReader>(); }
  std::unique_ptr<FrameWriter> make_writer(const CompressOptions& options) const override {
    return std::make_unique<RunsWriter>(options.linked_blocks);
  }
  std::optional<std::uint64_t> restored_bytes(std::span<const std::byte>) const override {
    return std::nullopt;  // blocks say it themselves
  }
};

// Byte by byte, since pieces may end anywhere.
class RunsDecoder : public StreamDecoder {
 public:
  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override {
    StreamStep step;
    for (;;) {
      while (run_left_ != 0 && step.output_bytes < output.size()) {
        output[step.output_bytes++] = run_byte_;
        --run_left_;
      }
      step.ended = part_ == Part::kEnd;
      if (step.ended || step.output_bytes == output.size() || step.input_bytes == input.size()) return step;
      if (!take(input[step.input_bytes])) {
        step.status = Status::kCorruptBlock;
        return step;
      }
      ++step.input_bytes;
    }
  }

 private:
  enum class Part { kHead, kOfRuns, kOfBytes, kEnd };

  bool take(std::byte byte) {
    if (part_ == Part::kHead) return take_head(byte);
    if (part_ == Part::kOfBytes) {
      put(1, byte);
      if (--stored_left_ == 0) part_ = Part::kHead;
      return true;
    }
    const auto value = static_cast<unsigned>(byte);
    take_half(value & 15);
    if (part_ == Part::kOfRuns) take_half(value >> 4);
    return true;
  }
  void take_half(unsigned half) {
    halves_[half_count_++] = half;
    if (half_count_ == 1 && half == 0) half_count_ = 0, part_ = Part::kHead;
    if (half_count_ < 3) return;
    put(halves_[0], static_cast<std::byte>(halves_[1] | halves_[2] << 4));
    half_count_ = 0;
  }
  bool take_head(std::byte byte) {
    head_[head_count_++] = byte;
    if (head_count_ < head_.size()) return true;
    head_count_ = 0;
    stored_left_ = load_le32(head_.data() + 1);
    switch (static_cast<unsigned>(head_[0])) {
      case kRunsPart:
        part_ = Part::kOfRuns;
        return stored_left_ == 0;
      case kStoredPart:
        part_ = Part::kOfBytes;
        return stored_left_ != 0;
      case kEndPart:
        part_ = Part::kEnd;
        return stored_left_ == 0;
    }
    return false;
  }
  void put(unsigned count, std::byte byte) { run_left_ = count, run_byte_ = byte; }

  Part part_ = Part::kHead;
  std::array<std::byte, 5> head_{};
  std::size_t head_count_ = 0;
  std::uint32_t stored_left_ = 0;
  std::array<unsigned, 3> halves_{};
  std::size_t half_count_ = 0;
  unsigned run_left_ = 0;
  std::byte run_byte_{};
};

class RunsCodec : public Codec {
 public:
  void compress(std::span<BlockTask> tasks, const EncodeParameters&) const override {
    for (BlockTask& task : tasks) {
      note_history(task);
      std::size_t halves = 0;
      const auto put = [&](unsigned half) {
        if (halves / 2 < task.output.size()) {
          std::byte& byte = task.output[halves / 2];
          byte = halves % 2 == 0 ? static_cast<std::byte>(half) : byte | static_cast<std::byte>(half << 4);
        }
        ++halves;
      };
      for (std::size_t at = 0; at < task.input.size();) {
        const std::byte byte = task.input[at];
        unsigned count = 0;
        while (count < 15 && at < task.input.size() && task.input[at] == byte) ++count, ++at;
        put(count);
        put(static_cast<unsigned>(byte) & 15);
        put(static_cast<unsigned>(byte) >> 4);
      }
      task.output_bytes = (halves + 1) / 2;
      task.last_byte_bits = halves % 2 == 0 ? 8 : 4;
      task.status = task.output_bytes <= task.output.size() ? Status::kOk : Status::kOutputTooSmall;
    }
  }

  void restore(std::span<BlockTask> tasks) const override {
    for (BlockTask& task : tasks) {
      note_history(task);
      restore_block(task);
    }
  }

  std::unique_ptr<StreamDecoder> make_stream_decoder(const FrameHeader&, std::span<const std::byte>,
                                                     const StreamMeans&) const override {
    return std::make_unique<RunsDecoder>();
  }

 private:
  static void note_history(const BlockTask& task) {
    for (std::size_t seen = most_runs_history_bytes; seen < task.history.size();)
      if (most_runs_history_bytes.compare_exchange_weak(seen, task.history.size())) break;
  }
  static void restore_block(BlockTask& task) {
    const auto half = [&](std::size_t number) {
      return static_cast<unsigned>(task.input[number / 2]) >> (number % 2 * 4) & 15;
    };
    const std::size_t halves = task.input.size() * 2;
    task.status = Status::kCorruptBlock;
    task.output_bytes = 0;
    for (std::size_t at = 0; at + 3 <= halves; at += 3) {
      const std::size_t count = half(at);
      if (count == 0 || count > task.output.size() - task.output_bytes) return;
      std::fill_n(task.output.begin() + static_cast<std::ptrdiff_t>(task.output_bytes), count,
                  static_cast<std::byte>(half(at + 1) | half(at + 2) << 4));
      task.output_bytes += count;
    }
    if (halves % 3 == 2 || (halves % 3 == 1 && half(halves - 1) != 0)) return;
    task.status = Status::kOk;
  }
};

// Its row. Without a codec for `cpu`, `reference` alone works on the format.
inline FormatRow runs_row(bool by_cpu = true) {
  return {.format = std::make_unique<RunsFormat>(),
          .processor = by_cpu ? std::make_unique<RunsCodec>() : nullptr,
          .reference = std::make_unique<RunsCodec>()};
}

}  // namespace hemstitch::testing
