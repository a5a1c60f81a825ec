#include "format/deflate/stream/deflate_stream_in_memory_cuda.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/bytes.hpp"
#include "format/checksum.hpp"
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "format/deflate/frame/deflate_head.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "format/deflate/stream/deflate_stream_cuda.hpp"
#include "format/deflate/stream/deflate_stream_tuning.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/device_buffer.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint64_t kMostPieceBytes = 4 * kDeflateDevicePieceBytes,
                        kLeastPieceBytes = std::uint64_t{64} << 10;
// The first piece of a stream that is still arriving is smaller, so that more arrives while it is restored.
// Each of the next is twice as large.
constexpr std::uint64_t kFirstArrivingBytes = kDeflateDevicePieceBytes;
// Looks for a head in so many bytes, then in more, since names may be long.
constexpr std::size_t kFirstHeadBytes = 512, kMostHeadBytes = std::size_t{1} << 20;
// How much the host restores at once.
constexpr std::size_t kHostInputBytes = std::size_t{1} << 20, kHostOutputBytes = std::size_t{4} << 20;
// The host continues after a piece of which less than this part (one in so many bytes) was confirmed, and
// that filled less than half of its room.
constexpr std::uint64_t kLeastConfirmed = 8;

// The sizes of a piece.
struct Sizes {
  Sizes(std::uint64_t piece_bytes, std::uint64_t stream_bytes, std::uint64_t output_bytes)
      : bytes(std::min(piece_bytes, std::max<std::uint64_t>(stream_bytes, 1))),
        content_bytes(
            std::min(bytes * kDeflateDeviceContentFactor, std::max<std::uint64_t>(output_bytes, 1))) {}

  DeflatePieceLimits limits() const {
    return deflate_piece_limits(static_cast<std::size_t>(bytes), static_cast<std::size_t>(content_bytes));
  }
  std::size_t scratch_bytes() const { return restore_deflate_piece_cuda_scratch_bytes(limits()); }

  std::uint64_t bytes, content_bytes;
};

class Restorer {
 public:
  Restorer(Format format, const StreamInMemory& work, const Sizes& sizes, void* d_temp,
           std::size_t temp_bytes, cudaStream_t stream)
      : format_(format),
        work_(work),
        sizes_(sizes),
        limits_(sizes.limits()),
        d_temp_(d_temp),
        temp_bytes_(temp_bytes),
        stream_(stream),
        output_(work.output),
        next_piece_bytes_(work.arrive ? kFirstArrivingBytes : sizes.bytes) {}

  StreamOutcome run() {
    std::uint64_t at = 0;
    Status status = Status::kOk;
    for (bool is_first = true; status == Status::kOk; is_first = false) {
      DeflateHead head = read_head(at);
      if (!is_first && head.status == Status::kUnknownFormat) head.status = Status::kTrailingGarbage;
      status = head.status;
      if (status != Status::kOk) break;
      bits_ = (at + head.bytes) * 8;
      begin_member();
      status = restore_members(at);
      if (at == work_.bytes) break;
      if (status == Status::kOk && format_ != Format::kGzip) status = Status::kTrailingGarbage;
    }
    return {status, done_, host_bytes_};
  }

 private:
  void fetch(std::uint64_t at, std::span<std::byte> to) {
    if (to.empty()) return;
    if (work_.arrive) work_.arrive(at + to.size());
    check(cudaMemcpyAsync(to.data(), work_.d_data + at, to.size(), cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  std::uint64_t trailer_bytes() const {
    return format_ == Format::kGzip ? kGzipTrailerBytes : format_ == Format::kZlib ? kZlibTrailerBytes : 0;
  }

  DeflateHead read_head(std::uint64_t at) {
    if (format_ == Format::kDeflate) return {};
    for (std::size_t wanted = kFirstHeadBytes;; wanted *= 16) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, work_.bytes - at));
      std::vector<std::byte> bytes(size);
      fetch(at, bytes);
      DeflateHead head = read_deflate_head(format_, bytes.data(), size, false);
      if (head.status == Status::kTruncated && size < work_.bytes - at && wanted < kMostHeadBytes) continue;
      if (head.status == Status::kOk && head.has_checksum && format_ == Format::kGzip)
        head.status = deflate_head_checksum_status(
            format_, head,
            checksum_of(Checksum::kCrc32, std::span(bytes).first(static_cast<std::size_t>(head.bytes) - 2)));
      return head;
    }
  }

  void begin_member() {
    member_at_ = done_;
    crc32_ = 0;
  }

  std::uint64_t window_bytes() const {
    return std::min<std::uint64_t>(done_ - member_at_, kDeflateWindowBytes);
  }

  void add(std::uint32_t crc32, std::uint64_t bytes) {
    crc32_ = combined_checksum(Checksum::kCrc32, crc32_, crc32, bytes);
    done_ += bytes;
  }

  bool grow() {
    if (!work_.grow) return false;
    const std::size_t before = output_.size();
    output_ = work_.grow(done_, 0);
    return output_.size() > before;
  }

  // Restores from bits_ on to the end of the stream, or of the last member that the device came to. `at` is
  // then after its trailer.
  Status restore_members(std::uint64_t& at) {
    std::uint64_t host_bytes = kDeflateDeviceSerialBytes;
    for (bool ended = false;;) {
      const bool is_much = restore_piece(ended);
      if (trouble_ != Status::kOk) return trouble_;
      if (!ended && !is_much) {
        const Status status = restore_on_host(host_bytes, ended);
        if (status != Status::kOk) return status;
        host_bytes = std::min<std::uint64_t>(2 * host_bytes, 2 * kDeflateDevicePieceBytes);
      } else {
        host_bytes = kDeflateDeviceSerialBytes;
      }
      if (!ended) continue;
      at = (bits_ + 7) / 8;
      const Status status = judge_trailer(at, done_);
      at = std::min(work_.bytes, at + trailer_bytes());
      return status;
    }
  }

  // Returns whether the device came far. Sets `trouble_` if a member that ended within the piece does not
  // match its trailer.
  bool restore_piece(bool& ended) {
    const std::uint64_t base = bits_ / 8;
    const std::uint64_t end =
        std::min<std::uint64_t>(work_.bytes, base + std::min(next_piece_bytes_, sizes_.bytes));
    if (next_piece_bytes_ < sizes_.bytes) next_piece_bytes_ *= 2;
    const std::uint64_t room = std::min<std::uint64_t>(output_.size() - done_, sizes_.content_bytes);
    if (base == end) return false;
    if (work_.arrive) work_.arrive(end);
    const DeflatePieceInput piece{.d_bytes = work_.d_data + base,
                                  .bytes = static_cast<std::size_t>(end - base),
                                  .begin_bits = bits_ % 8,
                                  .d_window = output_.data() + done_ - window_bytes(),
                                  .window_bytes = static_cast<std::uint32_t>(window_bytes()),
                                  .members = format_ == Format::kGzip};
    const DeflatePieceResult found =
        restore_deflate_piece_cuda(piece, limits_, output_.data() + done_, static_cast<std::size_t>(room),
                                   d_temp_, temp_bytes_, stream_);
    const std::uint64_t begin = done_;
    ended = found.ended;
    for (const DeflatePieceMember& member : found.members) {
      add(member.crc32, begin + member.content_end - done_);
      bits_ = base * 8 + member.end_bits;
      if (member.next_begin_bits == 0) return true;
      trouble_ = judge_trailer((bits_ + 7) / 8, done_);
      if (trouble_ != Status::kOk) return false;
      bits_ = base * 8 + member.next_begin_bits;
      begin_member();
    }
    add(found.crc32, begin + found.content_bytes - done_);
    const std::uint64_t bits = base * 8 + found.end_bits - bits_;
    bits_ += bits;
    const bool is_much = ended || !found.members.empty() ||
                         (bits != 0 && (bits * kLeastConfirmed >= (end - base) * 8 ||
                                        done_ - begin >= sizes_.content_bytes / 2));
    if (found.why == DeflatePieceEnd::kRoom && !ended && room < sizes_.content_bytes)
      return grow() || is_much;
    return is_much;
  }

  // Restores at least so many bytes on the host, up to where a block begins.
  Status restore_on_host(std::uint64_t least_bytes, bool& ended) {
    std::vector<std::byte> window(static_cast<std::size_t>(window_bytes()));
    if (!window.empty())
      check(cudaMemcpyAsync(window.data(), output_.data() + done_ - window.size(), window.size(),
                            cudaMemcpyDeviceToHost, stream_),
            "cudaMemcpyAsync");
    std::byte first{0};
    if (bits_ % 8 != 0) fetch(bits_ / 8, {&first, 1});
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    const auto decoder = std::make_unique<DeflateDecoder>(std::span<const std::byte>());
    decoder->begin(window, first, static_cast<unsigned>(bits_ % 8));

    std::vector<std::byte> room(kHostOutputBytes), bytes;
    std::uint64_t position = (bits_ + 7) / 8;
    const std::uint64_t stop = position + least_bytes;
    std::span<const std::byte> input;
    for (;;) {
      if (input.empty()) {
        bytes.resize(
            static_cast<std::size_t>(std::min<std::uint64_t>(kHostInputBytes, work_.bytes - position)));
        fetch(position, bytes);
        input = bytes;
      }
      const auto free_bytes =
          static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), output_.size() - done_));
      const StreamStep step =
          decoder->restore_until((static_cast<std::int64_t>(stop) - static_cast<std::int64_t>(position)) * 8,
                                 input, std::span(room).first(free_bytes));
      input = input.subspan(step.input_bytes);
      position += step.input_bytes;
      if (step.output_bytes != 0) {
        check(cudaMemcpyAsync(output_.data() + done_, room.data(), step.output_bytes, cudaMemcpyHostToDevice,
                              stream_),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
        host_bytes_ += step.output_bytes;
        add(checksum_of(Checksum::kCrc32, std::span(room).first(step.output_bytes)), step.output_bytes);
      }
      if (step.status != Status::kOk) return step.status;
      ended = step.ended;
      bits_ = position * 8 - (ended ? 0 : decoder->unread_bits());
      if (ended || (decoder->is_between_blocks() && bits_ >= stop * 8)) return Status::kOk;
      if (step.input_bytes != 0 || step.output_bytes != 0) continue;
      if (output_.size() == done_ && grow()) continue;
      // As in batches, a stream that is cut off counts as damaged.
      return output_.size() == done_ && !input.empty() ? Status::kOutputTooSmall : Status::kCorruptBlock;
    }
  }

  // Checks the trailer of the member that ends with the content so far.
  Status judge_trailer(std::uint64_t at, std::uint64_t content_end) {
    if (trailer_bytes() == 0) return Status::kOk;
    if (work_.bytes - std::min(at, work_.bytes) < trailer_bytes()) return Status::kCorruptBlock;
    std::byte trailer[kGzipTrailerBytes];
    fetch(at, std::span(trailer).first(static_cast<std::size_t>(trailer_bytes())));
    if (format_ == Format::kZlib)
      return adler32(content_end) == load_be32(trailer) ? Status::kOk : Status::kContentChecksumMismatch;
    if (load_le32(trailer + 4) != static_cast<std::uint32_t>(content_end - member_at_))
      return Status::kContentSizeMismatch;
    return load_le32(trailer) == crc32_ ? Status::kOk : Status::kContentChecksumMismatch;
  }

  // The checksum of the content since the member began, computed in device memory.
  std::uint32_t adler32(std::uint64_t content_end) {
    constexpr std::uint64_t kSpanBytes = std::uint64_t{1} << 16;
    std::vector<const std::byte*> spans;
    std::vector<std::size_t> sizes;
    for (std::uint64_t at = member_at_; at < content_end; at += kSpanBytes) {
      spans.push_back(output_.data() + at);
      sizes.push_back(static_cast<std::size_t>(std::min(kSpanBytes, content_end - at)));
    }
    if (spans.empty()) return checksum_of(Checksum::kAdler32, {});
    DeviceBuffer<const std::byte*> d_spans(spans.size(), stream_);
    DeviceBuffer<std::size_t> d_sizes(spans.size(), stream_);
    DeviceBuffer<std::uint32_t> d_found(spans.size(), stream_);
    d_spans.upload(spans);
    d_sizes.upload(sizes);
    adler32_spans_cuda(d_spans.get(), d_sizes.get(), spans.size(), d_found.get(), stream_);
    std::vector<std::uint32_t> found(spans.size());
    d_found.download(found);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    std::uint32_t sum = checksum_of(Checksum::kAdler32, {});
    for (std::size_t i = 0; i < found.size(); ++i)
      sum = combined_checksum(Checksum::kAdler32, sum, found[i], sizes[i]);
    return sum;
  }

  const Format format_;
  const StreamInMemory& work_;
  const Sizes sizes_;
  const DeflatePieceLimits limits_;
  void* const d_temp_;
  const std::size_t temp_bytes_;
  cudaStream_t const stream_;
  std::span<std::byte> output_;
  std::uint64_t next_piece_bytes_;
  std::uint64_t bits_ = 0;       // how many of the stream's bits are restored
  std::uint64_t done_ = 0;       // how many bytes of the content
  std::uint64_t member_at_ = 0;  // where the current member begins in the content
  std::uint64_t host_bytes_ = 0;
  std::uint32_t crc32_ = 0;
  Status trouble_ = Status::kOk;
};

}  // namespace

std::optional<Format> deflate_stream_format(std::span<const std::byte> head) {
  std::uint64_t extra_at = 0, extra_bytes = 0;
  const Status status = read_gzip_fields(head.data(), head.size(), extra_at, extra_bytes).status;
  if (status == Status::kOk || status == Status::kTruncated)
    return extra_bytes != 0 && extra_at + extra_bytes <= head.size() &&
                   bgzf_member_bytes(head.data() + extra_at, extra_bytes) != 0
               ? std::nullopt
               : std::optional(Format::kGzip);
  if (status == Status::kUnknownFormat &&
      read_zlib_head(head.data(), head.size(), false).status == Status::kOk)
    return Format::kZlib;
  return std::nullopt;
}

std::size_t deflate_stream_temp_bytes(std::uint64_t stream_bytes, std::uint64_t output_bytes) {
  return Sizes(kMostPieceBytes, stream_bytes, output_bytes).scratch_bytes();
}

StreamOutcome restore_deflate_stream(Format format, const StreamInMemory& work, void* d_temp,
                                     std::size_t temp_bytes, cudaStream_t stream) {
  // Room that can grow says nothing about the size of the content.
  const std::uint64_t output_bytes = work.grow ? UINT64_MAX : work.output.size();
  std::uint64_t piece_bytes = kMostPieceBytes;
  Sizes sizes(piece_bytes, work.bytes, output_bytes);
  while (piece_bytes > kLeastPieceBytes && sizes.scratch_bytes() > temp_bytes)
    sizes = Sizes(piece_bytes /= 2, work.bytes, output_bytes);
  return Restorer(format, work, sizes, d_temp, temp_bytes, stream).run();
}

}  // namespace hemstitch::cuda
