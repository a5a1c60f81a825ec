// Memory of a CUDA device to a compressed file.
//
//   calling thread    batch after batch: enqueue its compression;
//                     once the batch before is done, hand out its pieces
//   device            frames of batches, with headers and checksums (batch/lz4_frame_cuda.cu), on one stream
//   writing threads   download a piece, write it to its place in the file
//
// The place of a batch's blocks in the file is known once the batches before it are compressed. So batches
// are handed out in order, but their pieces are written in any order. Two batches have room for their output:
// one is compressed while the other is written.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "batch/lz4_batch_device.hpp"
#include "core/options.hpp"
#include "files/frame_files_device.hpp"
#include "files/save/frame_batches.hpp"
#include "files/save/new_file.hpp"
#include "format/formats.hpp"
#include "gpu/cuda/current_device.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/event.hpp"

namespace hemstitch {
namespace {

using cuda::check;
using cuda::DeviceBuffer;
using cuda::Event;

// As if no block shrank, with the frame's bytes around each.
std::uint64_t most_frame_bytes(const FrameWriter& writer, std::uint64_t content_bytes) {
  const FrameRoom room = writer.room();
  return room.header_bytes + content_bytes +
         writer.layout(content_bytes).body_block_count() * room.around_block_bytes() + room.last_byte_bytes +
         room.end_bytes;
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
    writer_ = FormatTable::instance().of(compress.format).make_writer(compress);
    const std::uint64_t batch_bytes =
        std::max<std::uint64_t>(sizes.batch_bytes / options.block_bytes, 1) * options.block_bytes;
    batches_ = plan_frame_batches(*writer_, content.size(), batch_bytes);
  }

  // After an error, copies may still use the memory that is freed here.
  ~FrameSaver() { cudaStreamSynchronize(stream_.get()); }

  std::uint64_t run() {
    write_header();
    if (!batches_.empty()) run_batches();
    write_end();
    file_.complete();
    return file_bytes_;
  }

 private:
  // The output of a batch.
  struct Slot {
    DeviceBuffer<std::byte> output;
    Event done{Event::Kind::kWait};
    std::size_t pieces_left = 0;  // not written yet
  };
  struct Piece {
    std::size_t slot;
    const std::byte* d_bytes;
    std::size_t bytes;
    std::uint64_t file_at;
  };

  void write_header() {
    std::vector<std::byte> header(writer_->room().header_bytes);
    // Written as in a stream: a size of 0 is left out.
    header.resize(writer_->write_header(
        content_.empty() ? std::nullopt : std::optional<std::uint64_t>(content_.size()), header.data()));
    file_.write(0, header);
    file_bytes_ = header_bytes_ = header.size();
  }

  void write_end() {
    std::optional<std::byte> last;
    if (writer_->layout(content_.size()).last_byte_apart) {
      check(cudaMemcpyAsync(&last.emplace(), content_.data() + content_.size() - 1, 1, cudaMemcpyDeviceToHost,
                            stream_.get()),
            "cudaMemcpyAsync");
      stream_.synchronize();
    }
    const std::vector<std::byte> end = write_frame_end(*writer_, content_.size(), last);
    file_.write(file_bytes_, end);
    file_bytes_ += end.size();
  }

  void run_batches() {
    hemstitch_lz4_frame frame{};
    frame.block_bytes = static_cast<std::uint32_t>(options_.block_bytes);
    frame.block_checksums = options_.block_checksums;
    std::uint64_t most_bytes = 0, most_temp_bytes = 0;
    for (const FrameBatch& batch : batches_) most_bytes = std::max(most_bytes, batch.given_bytes);
    // The last batch may be a little shorter or longer than the others.
    for (const FrameBatch* batch : {&batches_.front(), &batches_.back()})
      most_temp_bytes = std::max<std::uint64_t>(
          most_temp_bytes, lz4_frame_compress_temp_bytes(batch->given_bytes, frame, options_.level));
    const std::uint64_t capacity = most_frame_bytes(*writer_, most_bytes);
    const std::size_t slot_count = std::min(slots_.size(), batches_.size());
    temp_ = DeviceBuffer<std::byte>(most_temp_bytes, stream_.get(), device_.memory());
    d_results_ = DeviceBuffer<Result>(slot_count, stream_.get(), device_.memory());
    check(cudaMemsetAsync(d_results_.get(), 0, d_results_.bytes(), stream_.get()),
          "cudaMemsetAsync");  // padding, too
    results_ = device_.pinned().take(slot_count * sizeof(Result));
    auto* const h_results = reinterpret_cast<Result*>(results_.span().data());
    for (std::size_t i = 0; i < slot_count; ++i)
      slots_[i].output = DeviceBuffer<std::byte>(capacity, stream_.get(), device_.memory());
    {
      // Waits for what the caller has enqueued with the content.
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
      // The device is one batch ahead of what is handed out.
      for (std::size_t i = 0; i <= batches_.size(); ++i) {
        if (i < batches_.size()) {
          const std::size_t number = i % slot_count;
          if (!wait_until_written(number)) break;
          Slot& slot = slots_[number];
          const FrameBatch& batch = batches_[i];
          Result* const d_result = d_results_.get() + number;
          lz4_frame_compress_async(content_.data() + batch.at, batch.given_bytes, frame, options_.level,
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

  // False after an error.
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
    // Only the blocks.
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
    // Even if something throws, no copy writes to the memory after it was given back.
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
      // The batch is done, since the calling thread has waited for it.
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
  std::vector<FrameBatch> batches_;
  std::size_t header_bytes_ = 0;  // of the frame, and of the frame of each batch
  std::uint64_t file_bytes_ = 0;  // written so far

  cuda::Stream stream_;
  DeviceBuffer<std::byte> temp_;
  DeviceBuffer<Result> d_results_;
  cuda::PinnedPool::Block results_;
  std::array<Slot, 2> slots_;

  // Shared by all threads.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr error_;  // the first error; all threads stop
  std::deque<Piece> pieces_;
  bool ended_ = false;  // no more pieces come
};

// The device with the content. Kernels would read host memory over the bus, byte by byte.
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
