#include "format/zstd/stream/zstd_stream_in_memory_cuda.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/bytes.hpp"
#include "core/status.hpp"
#include "format/checksum.hpp"
#include "format/skippable_frame.hpp"
#include "format/stream_decoder.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/stream/zstd_device_decoder.hpp"
#include "format/zstd/stream/zstd_frame_cuda.hpp"
#include "format/zstd/stream/zstd_parallel_decoder.hpp"
#include "format/zstd/stream/zstd_piece_device.hpp"
#include "format/zstd/stream/zstd_walk_blocks_cuda.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/event.hpp"
#include "gpu/cuda/scratch.hpp"

namespace hemstitch::cuda {
namespace {

// Shorter content is restored before a device would help.
constexpr std::uint64_t kLeastContentBytes = std::uint64_t{32} << 20;
// Content of a piece. With less memory, at least a block.
constexpr std::size_t kMostPieceBytes = ZstdDeviceLimits{}.content_bytes;
constexpr std::uint64_t kMostWindowBytes = (std::uint64_t{1} << 31) - 1 - kMostPieceBytes;
constexpr std::uint64_t kMostDataBytes = (std::uint64_t{1} << 31) - 1;
// Before anything is known of a frame, its ratio. Where data is larger, a piece has fewer blocks.
constexpr std::uint64_t kRatio = 2;
// Blocks are walked for one piece while two others are under way.
constexpr std::size_t kWalks = kZstdDecodedPieces + 1;
constexpr std::size_t kHostBytes = std::size_t{8} << 20;

struct Temp {
  Temp(Carver& carve, std::size_t piece_bytes) {
    const auto blocks = static_cast<std::uint32_t>(ZstdDeviceLimits{.content_bytes = piece_bytes}.blocks);
    d_carry = carve.take<std::byte>(zstd_frame_carry_bytes());
    d_results = carve.take<ZstdFrameResult>(kZstdDecodedPieces);
    scratch_bytes = zstd_frame_scratch_bytes(blocks, piece_bytes);
    for (auto& d_one : d_scratch) d_one = carve.take<std::byte>(scratch_bytes);
    d_walked = carve.take<ZstdWalkedBlocks>(kWalks);
    for (auto& d_one : d_block_at) d_one = carve.take<std::uint32_t>(blocks);
  }
  static std::size_t bytes_of(std::size_t piece_bytes) {
    Carver carve(nullptr);
    Temp(carve, piece_bytes);
    return carve.bytes();
  }

  std::byte* d_carry;
  ZstdFrameResult* d_results;
  std::array<std::byte*, kZstdDecodedPieces> d_scratch;
  std::size_t scratch_bytes;
  ZstdWalkedBlocks* d_walked;
  std::array<std::uint32_t*, kWalks> d_block_at;
};

// The largest pieces for so much memory; those that suit the output.
std::size_t piece_bytes_of(std::uint64_t output_bytes, std::size_t temp_bytes) {
  std::size_t bytes = kMostPieceBytes;
  while (bytes / 2 >= kZstdMostBlockBytes &&
         (bytes / 2 >= output_bytes || Temp::bytes_of(bytes) > temp_bytes))
    bytes /= 2;
  return bytes;
}

class Restorer {
 public:
  Restorer(const StreamInMemory& work, void* d_temp, std::size_t temp_bytes, cudaStream_t stream)
      : work_(work), stream_(stream), output_(work.output) {
    piece_bytes_ = piece_bytes_of(output_.size(), temp_bytes);
    check_scratch("zstd_stream", Temp::bytes_of(piece_bytes_), d_temp, temp_bytes);
    Carver carve(d_temp);
    temp_.emplace(carve, piece_bytes_);
  }
  // What was begun must not go on in memory that the caller takes back.
  ~Restorer() {
    for (cudaStream_t const stream :
         {walking_.get(), decoding_.get(), placing_.get(), resolving_.get(), stream_})
      cudaStreamSynchronize(stream);
  }
  Restorer(const Restorer&) = delete;
  Restorer& operator=(const Restorer&) = delete;

  StreamOutcome run() {
    StreamOutcome outcome;
    bool has_frames = false;
    while (outcome.status == Status::kOk && at_ < work_.bytes) outcome.status = restore_next(has_frames);
    if (outcome.status == Status::kOk && !has_frames) outcome.status = Status::kTruncated;
    outcome.content_bytes = content_bytes_;
    outcome.host_bytes = host_bytes_;
    return outcome;
  }

 private:
  // A piece that is decoded, and what it needs until it is resolved.
  struct Slot {
    ZstdFramePiece piece;
    ZstdFrameMemory memory;
    std::uint64_t at = 0;  // of its data in the stream
    Event decoded, resolved;
  };

  // A frame, or a skippable one.
  Status restore_next(bool& has_frames) {
    std::array<std::byte, kZstdMostHeaderBytes> head{};
    const auto known = std::min<std::uint64_t>(head.size(), work_.bytes - at_);
    arrive(at_ + known);
    download(head.data(), work_.d_data + at_, known);
    if (known < kZstdMagicBytes) return has_frames ? Status::kTrailingGarbage : Status::kTruncated;
    const std::uint32_t magic = load_le32(head.data());
    if (is_skippable_magic(magic)) {
      constexpr std::size_t kHeaderBytes = kSkippableMagicBytes + kSkippableSizeBytes;
      if (known < kHeaderBytes) return Status::kTruncated;
      const std::uint64_t bytes = kHeaderBytes + load_le32(head.data() + kSkippableMagicBytes);
      if (bytes > work_.bytes - at_) return Status::kTruncated;
      at_ += bytes;
      return Status::kOk;
    }
    if (magic != kZstdMagic) return has_frames ? Status::kTrailingGarbage : Status::kUnknownFormat;
    has_frames = true;
    if (known <= kZstdMagicBytes) return Status::kTruncated;
    const std::size_t rest = zstd_header_rest_bytes(head[kZstdMagicBytes]);
    if (known < kZstdMagicBytes + rest) return Status::kTruncated;
    const auto header = read_zstd_header(std::span(head).subspan(kZstdMagicBytes, rest));
    if (!header) return Status::kCorruptHeader;
    if (header->window_bytes > kZstdMostWindowBytes) return Status::kUnsupportedFeature;
    if (header->dictionary_id != 0) return Status::kDictionaryNeeded;
    at_ += kZstdMagicBytes + rest;
    const std::uint64_t frame_at = at_, content_at = content_bytes_;
    // What a header claims takes no more memory than blocks of one byte could fill.
    constexpr std::uint64_t kMostRatio = kZstdMostBlockBytes / (kZstdBlockHeaderBytes + 1);
    if (work_.grow && header->content_bytes.value_or(0) / kMostRatio <= work_.bytes - at_)
      make_room(header->content_bytes.value_or(0));
    const bool is_short = header->content_bytes.value_or(kLeastContentBytes) < kLeastContentBytes;
    Status status = Status::kOk;
    if (is_short || header->window_bytes > kMostWindowBytes || !restore_blocks(*header, status)) {
      resolving_.synchronize();  // what is restored again must not be written twice at once
      at_ = frame_at;
      content_bytes_ = content_at;
      status = restore_on_host(*header);
    }
    if (status != Status::kOk) return status;
    if (header->content_bytes && *header->content_bytes != content_bytes_ - content_at)
      return Status::kContentSizeMismatch;
    return header->has_checksum ? verify(content_at) : Status::kOk;
  }

  // ---- On the device ----

  // False if the host has to restore the frame. `status` is then unspecified.
  bool restore_blocks(const ZstdFrameHeader& header, Status& status) {
    check(cudaMemsetAsync(temp_->d_carry, 0, zstd_frame_carry_bytes(), decoding_.get()), "cudaMemsetAsync");
    window_bytes_ = header.window_bytes;
    frame_at_ = content_bytes_;
    walked_at_ = at_;
    const ZstdDeviceLimits limits{.content_bytes = piece_bytes_};
    const auto most_block_bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes_, kZstdMostBlockBytes));
    suited_blocks_ = limits.suited_blocks(most_block_bytes);
    has_last_ = false;
    data_bytes_ = 0;
    decoded_ = placed_ = 0;
    begin_walk();
    if (!decode()) return false;
    while (placed_ < decoded_) {
      Slot& slot = slots_[placed_ % slots_.size()];
      slot.piece.history_bytes =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(content_bytes_ - frame_at_, window_bytes_));
      slot.decoded.hold(placing_.get());
      place_zstd_frame_piece(slot.piece, slot.memory, placing_.get());
      bool is_sound = true;
      if (!has_last_ && decoded_ - placed_ < slots_.size()) is_sound = decode();
      ZstdFrameResult result;
      check(cudaMemcpyAsync(&result, slot.memory.d_result, sizeof result, cudaMemcpyDeviceToHost,
                            placing_.get()),
            "cudaMemcpyAsync");
      placing_.synchronize();
      if (result.stop == ZstdFrameStop::kDoubt || result.blocks == 0 ||
          result.blocks > slot.piece.block_count || result.content_bytes > piece_bytes_)
        return false;
      if (!make_room(result.content_bytes)) {
        status = Status::kOutputTooSmall;
        return true;
      }
      slot.piece.d_content = output_.data() + content_bytes_;
      resolve_zstd_frame_piece(slot.piece, slot.memory, resolving_.get());
      slot.resolved.record(resolving_.get());
      content_bytes_ += result.content_bytes;
      ++placed_;
      suited_blocks_ = limits.suited_blocks(most_block_bytes, result.blocks, result.content_bytes);
      if (result.stop == ZstdFrameStop::kRoom) {
        go_back_behind(slot, result.blocks);
        is_sound = decode();
      } else if (is_sound && decoded_ == placed_ && !has_last_) {
        is_sound = decode();
      }
      if (!is_sound && decoded_ == placed_) return false;
    }
    resolving_.synchronize();
    if (!has_last_) return false;
    at_ = walked_at_;
    return true;
  }

  // Lets the next blocks be found.
  void begin_walk() {
    const std::uint64_t left = work_.bytes - walked_at_;
    // So far, a byte of content took so many of data, in 1,024ths.
    const std::uint64_t content = content_bytes_ - frame_at_;
    const std::uint64_t per_byte = content == 0 ? 1024 / kRatio : data_bytes_ * 1024 / content + 64;
    const std::uint64_t wanted = piece_bytes_ * per_byte / 1024 + 2 * kZstdMostBlockBytes;
    const std::uint64_t bytes = std::min({left, wanted, kMostDataBytes});
    arrive(walked_at_ + bytes);
    arrived_.record(stream_);
    arrived_.hold(walking_.get());
    walk_zstd_blocks(work_.d_data + walked_at_, static_cast<std::size_t>(bytes),
                     static_cast<std::uint32_t>(suited_blocks_), temp_->d_block_at[walk_count_ % kWalks],
                     temp_->d_walked + walk_count_ % kWalks, walking_.get());
  }

  // Waits until blocks are found, and lets them be decoded. False if there are none.
  bool decode() {
    ZstdWalkedBlocks walked;
    check(cudaMemcpyAsync(&walked, temp_->d_walked + walk_count_ % kWalks, sizeof walked,
                          cudaMemcpyDeviceToHost, walking_.get()),
          "cudaMemcpyAsync");
    walking_.synchronize();
    if (walked.count == 0) return false;
    Slot& slot = slots_[decoded_ % slots_.size()];
    slot.at = walked_at_;
    slot.memory = {temp_->d_carry, temp_->d_results + decoded_ % slots_.size(),
                   temp_->d_scratch[decoded_ % slots_.size()], temp_->scratch_bytes};
    slot.piece = {.d_data = work_.d_data + walked_at_,
                  .data_bytes = walked.data_bytes,
                  .d_block_at = temp_->d_block_at[walk_count_ % kWalks],
                  .block_count = walked.count,
                  .window_bytes = window_bytes_,
                  .capacity = piece_bytes_};
    cudaStream_t const stream = decoding_.get();
    slot.resolved.hold(stream);
    decode_zstd_frame_piece(slot.piece, slot.memory, stream);
    slot.decoded.record(stream);
    ++decoded_;
    ++walk_count_;
    walked_at_ += walked.data_bytes;
    data_bytes_ += walked.data_bytes;
    has_last_ = walked.has_last != 0;
    if (!has_last_) begin_walk();
    return true;
  }

  // Forgets what was decoded and found behind the first blocks of a piece.
  void go_back_behind(const Slot& slot, std::uint32_t blocks) {
    std::uint32_t at;
    download(&at, slot.piece.d_block_at + blocks, sizeof at);
    walking_.synchronize();
    rewind_zstd_frame_piece(slot.piece, slot.memory, decoding_.get());
    data_bytes_ -= walked_at_ - (slot.at + at);
    walked_at_ = slot.at + at;
    has_last_ = false;
    decoded_ = placed_;
    ++walk_count_;
    begin_walk();
  }

  // ---- On the host ----

  Status restore_on_host(const ZstdFrameHeader& header) {
    ZstdParallelDecoder decoder(header.window_bytes, {.threads = 1}, ZstdFrameStart());
    std::vector<std::byte> input, output(kHostBytes);
    std::size_t used = 0;
    for (;;) {
      if (used == input.size()) {
        used = 0;
        input.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kHostBytes, work_.bytes - at_)));
        arrive(at_ + input.size());
        download(input.data(), work_.d_data + at_, input.size());
      }
      const StreamStep step = decoder.restore(std::span(input).subspan(used), output);
      used += step.input_bytes;
      at_ += step.input_bytes;
      const std::span<const std::byte> made =
          step.lent.empty() ? std::span<const std::byte>(output).first(step.output_bytes) : step.lent;
      if (!make_room(made.size())) return Status::kOutputTooSmall;
      check(cudaMemcpyAsync(output_.data() + content_bytes_, made.data(), made.size(), cudaMemcpyHostToDevice,
                            stream_),
            "cudaMemcpyAsync");
      check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
      content_bytes_ += made.size();
      host_bytes_ += made.size();
      if (step.status != Status::kOk) return step.status;
      if (step.ended) return Status::kOk;
      if (step.input_bytes == 0 && made.empty() && at_ == work_.bytes) return Status::kCorruptBlock;
    }
  }

  // The content from `begin` on against the checksum that follows. XXH64 goes through it in order, which is faster on the host.
  Status verify(std::uint64_t begin) {
    std::array<std::byte, 4> stored;
    if (work_.bytes - at_ < stored.size()) return Status::kTruncated;
    arrive(at_ + stored.size());
    download(stored.data(), work_.d_data + at_, stored.size());
    at_ += stored.size();
    if (!work_.verifies) return Status::kOk;
    RunningChecksum checksum(Checksum::kXxh64);
    if (!h_parts_) h_parts_.emplace(2 * kHostBytes);
    const auto part_bytes = [&](std::uint64_t at) {
      return static_cast<std::size_t>(std::min<std::uint64_t>(kHostBytes, content_bytes_ - at));
    };
    // One part comes down while the other one is looked at.
    const auto ask = [&](std::uint64_t at) {
      const std::size_t half = (at - begin) / kHostBytes % 2;
      check(cudaMemcpyAsync(h_parts_->span().data() + half * kHostBytes, output_.data() + at, part_bytes(at),
                            cudaMemcpyDeviceToHost, stream_),
            "cudaMemcpyAsync");
      parts_[half].record(stream_);
    };
    if (begin < content_bytes_) ask(begin);
    for (std::uint64_t at = begin; at < content_bytes_; at += kHostBytes) {
      if (content_bytes_ - at > kHostBytes) ask(at + kHostBytes);
      const std::size_t half = (at - begin) / kHostBytes % 2;
      parts_[half].synchronize();
      checksum.update(h_parts_->span().subspan(half * kHostBytes, part_bytes(at)));
    }
    return checksum.digest() == load_le32(stored.data()) ? Status::kOk : Status::kContentChecksumMismatch;
  }

  // ---- Both ----

  // Work on the stream may then read the bytes before `end`.
  void arrive(std::uint64_t end) const {
    if (work_.arrive) work_.arrive(end);
  }
  void download(void* to, const void* d_from, std::size_t bytes) const {
    check(cudaMemcpyAsync(to, d_from, bytes, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }
  // False if the output has no room for so much more content.
  bool make_room(std::uint64_t bytes) {
    while (output_.size() - content_bytes_ < bytes) {
      if (!work_.grow) return false;
      resolving_.synchronize();
      const std::span<std::byte> larger = work_.grow(content_bytes_, content_bytes_ + bytes);
      check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
      if (larger.size() <= output_.size()) return false;
      output_ = larger;
    }
    return true;
  }

  const StreamInMemory& work_;
  cudaStream_t const stream_;  // the caller's
  Stream walking_{kZstdDecodingPriority}, decoding_{kZstdDecodingPriority}, placing_{kZstdPlacingPriority},
      resolving_;
  std::span<std::byte> output_;
  std::size_t piece_bytes_;
  std::optional<Temp> temp_;
  std::uint64_t at_ = 0, content_bytes_ = 0, host_bytes_ = 0;

  // Of the frame.
  std::uint64_t window_bytes_ = 0, frame_at_ = 0;
  std::uint64_t walked_at_ = 0, data_bytes_ = 0;  // behind the blocks that are decoded; of all these
  std::size_t suited_blocks_ = 0;
  bool has_last_ = false;
  std::size_t decoded_ = 0, placed_ = 0, walk_count_ = 0;
  std::array<Slot, kZstdDecodedPieces> slots_;
  Event arrived_;

  std::optional<PinnedBuffer<std::byte>> h_parts_;
  std::array<Event, 2> parts_{Event(Event::Kind::kWait), Event(Event::Kind::kWait)};
};

}  // namespace

bool is_long_zstd_stream(std::span<const std::byte> head) {
  if (head.size() < kZstdMostHeaderBytes || load_le32(head.data()) != kZstdMagic) return false;
  const auto header =
      read_zstd_header(head.subspan(kZstdMagicBytes, zstd_header_rest_bytes(head[kZstdMagicBytes])));
  return header && header->dictionary_id == 0 && header->window_bytes <= kMostWindowBytes &&
         header->content_bytes.value_or(kLeastContentBytes) >= kLeastContentBytes;
}

std::size_t zstd_stream_temp_bytes(std::uint64_t /*stream_bytes*/, std::uint64_t output_bytes) {
  return Temp::bytes_of(piece_bytes_of(output_bytes, SIZE_MAX));
}

StreamOutcome restore_zstd_stream(const StreamInMemory& work, void* d_temp, std::size_t temp_bytes,
                                  cudaStream_t stream) {
  return Restorer(work, d_temp, temp_bytes, stream).run();
}

}  // namespace hemstitch::cuda
