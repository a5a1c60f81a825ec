// Memory of a CUDA device to a compressed file.
//
//   calling thread    batch after batch: have it compressed; when the one before is done, hand out its pieces
//   device            frames of batches, headers and checksums included (batch/lz4_frame_cuda.cu), on one stream
//   writing threads   download a piece, write it to its place in the file
//
// Where a batch's blocks begin in the file is known once the ones before are compressed, so batches are handed out in order; their
// pieces are written in any. Two batches have room for their output: one is compressed while the other one is written.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "batch/lz4_batch_device.hpp"
#include "core/options.hpp"
#include "files/frame_batches.hpp"
#include "files/frame_files_device.hpp"
#include "files/new_file.hpp"
#include "format/formats.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "gpu/cuda/current_device.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/event.hpp"

namespace hemstitch {
namespace {

using cuda::check;
using cuda::DeviceBuffer;
using cuda::Event;

// Every block as large as it is, and what stands around them.
std::uint64_t most_frame_bytes(std::uint64_t content_bytes, std::uint64_t block_bytes) {
  const std::uint64_t block_count = content_bytes / block_bytes + 2;
  return content_bytes + kMaxFrameHeaderBytes + kBlockHeaderBytes +
         block_count * (kBlockHeaderBytes + kBlockChecksumBytes);
}

class FrameSaver {
 public:
  FrameSaver(cuda::Device& device, std::span<const std::byte> content, const std::string& path,
             const FrameSaveOptions& options, const FrameSaveSizes& sizes)
      : device_(device), content_(content), options_(options), sizes_(sizes), file_(path) {
    CompressOptions compress;
    compress.level = options.level;
    compress.block_bytes = options.block_bytes;
    compress.block_checksums = options.block_checksums;
    writer_ = FormatTable::instance().of(Format::kLz4).make_writer(compress);
    layout_ = writer_->layout(content.size());
    const std::uint64_t batch_bytes =
        std::max<std::uint64_t>(sizes.batch_bytes / options.block_bytes, 1) * options.block_bytes;
    batches_ = plan_frame_batches(layout_, options.block_checksums, batch_bytes);
  }

  // Copies may still read and write what is freed here, where something failed.
  ~FrameSaver() { cudaStreamSynchronize(stream_.get()); }

  std::uint64_t run() {
    write_header();
    if (!batches_.empty()) run_batches();
    write_end();
    file_.complete();
    return file_bytes_;
  }

 private:
  // Where a batch is compressed to.
  struct Slot {
    DeviceBuffer<std::byte> output;
    Event done{Event::Kind::kWait};
    std::size_t pieces_left = 0;  // to be written
  };
  struct Piece {
    std::size_t slot;
    const std::byte* d_bytes;
    std::size_t bytes;
    std::uint64_t file_at;
  };

  void write_header() {
    std::vector<std::byte> header(writer_->room().header_bytes);
    // As streams write it: a size of 0 is not told.
    header.resize(writer_->write_header(
        content_.empty() ? std::nullopt : std::optional<std::uint64_t>(content_.size()), header.data()));
    file_.write(0, header);
    file_bytes_ = header_bytes_ = header.size();
  }

  void write_end() {
    std::vector<std::byte> end(writer_->room().last_byte_bytes + writer_->room().end_bytes);
    std::size_t bytes = 0;
    if (layout_.last_byte_apart) {
      std::byte last{};
      check(cudaMemcpyAsync(&last, content_.data() + content_.size() - 1, 1, cudaMemcpyDeviceToHost,
                            stream_.get()),
            "cudaMemcpyAsync");
      stream_.synchronize();
      bytes = writer_->write_last_byte(last, end.data());
    }
    bytes += writer_->write_end(std::nullopt, end.data() + bytes);
    file_.write(file_bytes_, std::span(end).first(bytes));
    file_bytes_ += bytes;
  }

  void run_batches() {
    hemstitch_lz4_frame frame{};
    frame.block_bytes = static_cast<std::uint32_t>(options_.block_bytes);
    frame.block_checksums = options_.block_checksums;
    const Lz4Level level = lz4_level(options_.level, options_.block_bytes);
    std::uint64_t most_bytes = 0, most_temp_bytes = 0;
    for (const FrameBatch& batch : batches_) most_bytes = std::max(most_bytes, batch.given_bytes);
    // The last one may be a little shorter or longer than others.
    for (const FrameBatch* batch : {&batches_.front(), &batches_.back()})
      most_temp_bytes = std::max<std::uint64_t>(
          most_temp_bytes, lz4_frame_compress_temp_bytes(batch->given_bytes, frame, level));
    const std::uint64_t capacity = most_frame_bytes(most_bytes, options_.block_bytes);
    const std::size_t slot_count = std::min(slots_.size(), batches_.size());
    temp_ = DeviceBuffer<std::byte>(most_temp_bytes, stream_.get(), device_.memory());
    d_results_ = DeviceBuffer<Result>(slot_count, stream_.get(), device_.memory());
    results_ = device_.pinned().take(slot_count * sizeof(Result));
    auto* const h_results = reinterpret_cast<Result*>(results_.span().data());
    for (std::size_t i = 0; i < slot_count; ++i)
      slots_[i].output = DeviceBuffer<std::byte>(capacity, stream_.get(), device_.memory());
    {
      // What the caller has under way with the content comes first.
      Event before;
      before.record(options_.stream);
      before.hold(stream_.get());
    }

    std::vector<std::thread> threads;
    try {
      const std::uint64_t most_pieces = (content_.size() + sizes_.piece_bytes - 1) / sizes_.piece_bytes;
      const auto writers = std::min<std::uint64_t>(resolve_threads(options_.threads), most_pieces);
      for (std::uint64_t i = 0; i < writers; ++i)
        threads.emplace_back([this] {
          try {
            write_pieces();
          } catch (...) {
            stop(std::current_exception());
          }
        });
      // One batch more than is handed out is on the device.
      for (std::size_t i = 0; i <= batches_.size(); ++i) {
        if (i < batches_.size()) {
          const std::size_t number = i % slot_count;
          if (!wait_until_written(number)) break;
          Slot& slot = slots_[number];
          const FrameBatch& batch = batches_[i];
          Result* const d_result = d_results_.get() + number;
          lz4_frame_compress_async(content_.data() + batch.at, batch.given_bytes, frame, level,
                                   slot.output.get(), capacity, &d_result->bytes, &d_result->status,
                                   {temp_.get(), temp_.bytes()}, stream_.get());
          check(cudaMemcpyAsync(h_results + number, d_result, sizeof(Result), cudaMemcpyDeviceToHost,
                                stream_.get()),
                "cudaMemcpyAsync");
          slot.done.record(stream_.get());
        }
        if (i > 0) {
          const std::size_t number = (i - 1) % slot_count;
          slots_[number].done.synchronize();
          hand_out(number, h_results[number], batches_[i - 1]);
        }
      }
    } catch (...) {
      stop(std::current_exception());
    }
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

  // False where something failed.
  bool wait_until_written(std::size_t slot) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ || slots_[slot].pieces_left == 0; });
    return !error_;
  }

  struct Result {
    std::uint64_t bytes;
    hemstitch_status status;
  };

  void hand_out(std::size_t number, const Result& result, const FrameBatch& batch) {
    if (result.status != HEMSTITCH_OK || result.bytes < header_bytes_ + batch.cut_bytes)
      throw Error(Status::kDeviceFault,
                  fmt::format("bytes {} to {} could not be compressed", batch.at, batch.at + batch.bytes));
    // The blocks alone.
    const std::uint64_t end = result.bytes - batch.cut_bytes;
    {
      const std::scoped_lock lock(mutex_);
      for (std::uint64_t at = header_bytes_; at < end;) {
        const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(sizes_.piece_bytes, end - at));
        pieces_.push_back({number, slots_[number].output.get() + at, bytes, file_bytes_});
        ++slots_[number].pieces_left;
        file_bytes_ += bytes;
        at += bytes;
      }
    }
    changed_.notify_all();
  }

  void stop(std::exception_ptr error) {
    {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::move(error);
    }
    changed_.notify_all();
  }

  void write_pieces() {
    device_.make_current();
    const cuda::PinnedPool::Block memory = device_.pinned().take(sizes_.piece_bytes);
    const cuda::Stream stream;
    // However this ends, nothing writes to the memory any more when it goes.
    const std::unique_ptr<CUstream_st, void (*)(cudaStream_t)> settled(
        stream.get(), [](cudaStream_t unsettled) { cudaStreamSynchronize(unsettled); });
    Event arrived{Event::Kind::kWait};
    for (;;) {
      Piece piece;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return error_ || ended_ || !pieces_.empty(); });
        if (error_ || pieces_.empty()) return;
        piece = pieces_.front();
        pieces_.pop_front();
      }
      // The batch is done: the calling thread has waited for it.
      check(cudaMemcpyAsync(memory.span().data(), piece.d_bytes, piece.bytes, cudaMemcpyDeviceToHost,
                            stream.get()),
            "cudaMemcpyAsync");
      arrived.record(stream.get());
      arrived.synchronize();
      {
        const std::scoped_lock lock(mutex_);
        --slots_[piece.slot].pieces_left;
      }
      changed_.notify_all();
      file_.write(piece.file_at, memory.span().first(piece.bytes));
    }
  }

  cuda::Device& device_;
  std::span<const std::byte> content_;
  const FrameSaveOptions& options_;
  const FrameSaveSizes& sizes_;
  NewFile file_;
  std::unique_ptr<FrameWriter> writer_;
  FrameLayout layout_;
  std::vector<FrameBatch> batches_;
  std::size_t header_bytes_ = 0;  // of the frame and of each batch's
  std::uint64_t file_bytes_ = 0;  // so far

  cuda::Stream stream_;
  DeviceBuffer<std::byte> temp_;
  DeviceBuffer<Result> d_results_;
  cuda::PinnedPool::Block results_;
  std::array<Slot, 2> slots_;

  // Of all threads.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr error_;  // the first one; all stop
  std::deque<Piece> pieces_;
  bool ended_ = false;  // no more of them
};

// Where the content is. Memory of the host would be read over the bus, byte by byte.
cuda::Device& device_of(std::span<const std::byte> content) {
  if (content.empty()) return cuda::open_current_device();
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, content.data()), "cudaPointerGetAttributes");
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
    throw Error(Status::kInvalidOption, "content is not in the memory of a CUDA device");
  const cuda::CurrentDevice current(attributes.device);
  return cuda::open_current_device();
}

}  // namespace

std::uint64_t save_frame_cuda(std::span<const std::byte> content, const std::string& path,
                              const FrameSaveOptions& options, const FrameSaveSizes& sizes) {
  cuda::Device& device = device_of(content);
  const cuda::CurrentDevice current(device);
  return FrameSaver(device, content, path, options, sizes).run();
}

}  // namespace hemstitch
