// Memory of a CUDA device to a compressed file.
//
//   calling thread    batch after batch: enqueue its compression;
//                     once the batch before is done, hand out its pieces
//   device            batches (batch_compressors_cuda.hpp), on one stream
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

#include "core/options.hpp"
#include "files/frame_files_device.hpp"
#include "files/save/batch_compressors_cuda.hpp"
#include "files/save/frame_batches.hpp"
#include "files/save/new_file.hpp"
#include "format/formats.hpp"
#include "gpu/cuda/current_device.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/event.hpp"

namespace hemstitch {
namespace {

using cuda::check;
using cuda::Event;

class FrameSaver {
 public:
  FrameSaver(cuda::Device& device, std::span<const std::byte> content, const std::string& path,
             const FrameSaveOptions& options, const FrameSaveSizes& sizes)
      : device_(device), content_(content), options_(options), sizes_(sizes), file_(path) {
    CompressOptions compress;
    compress.format = options.format;
    compress.level = options.level;
    compress.block_bytes = options.block_bytes;
    compress.block_checksums = options.block_checksums;
    if (FormatTable::instance().of(options.format).choices().seekable)
      compress.seekable_bytes = options.block_bytes;
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
  // A batch whose output the compressor has.
  struct Slot {
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
    append(write_frame_end(*writer_, content_.size(), last));
    if (!writer_->room().has_table()) return;
    std::vector<std::byte> table(writer_->room().table_bytes_of(blocks_.size()));
    table.resize(writer_->write_table(blocks_, table.data()));
    append(table);
  }
  void append(std::span<const std::byte> bytes) {
    file_.write(file_bytes_, bytes);
    file_bytes_ += bytes.size();
  }

  void run_batches() {
    const std::size_t slot_count = std::min(slots_.size(), batches_.size());
    const SaveWork work{.device = device_,
                        .stream = stream_,
                        .content = content_,
                        .options = options_,
                        .writer = *writer_,
                        .batches = batches_,
                        .header_bytes = header_bytes_,
                        .slot_count = slot_count};
    compressor_ = writer_->room().has_table() ? make_blocks_compressor(work) : make_frame_compressor(work);
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
          compressor_->enqueue(number, batches_[i]);
          slots_[number].done.record(stream_.get());
        }
        if (i > 0) {
          const std::size_t number = (i - 1) % slot_count;
          slots_[number].done.synchronize();
          hand_out(number, batches_[i - 1]);
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

  void hand_out(std::size_t number, const FrameBatch& batch) {
    const std::vector<std::span<const std::byte>> written = compressor_->written(number, batch);
    if (writer_->room().has_table())  // each is a block of the table
      for (std::size_t i = 0; i < written.size(); ++i)
        blocks_.push_back({static_cast<std::uint32_t>(written[i].size()),
                           static_cast<std::uint32_t>(std::min<std::uint64_t>(
                               options_.block_bytes, batch.bytes - i * options_.block_bytes))});
    {
      const std::scoped_lock lock(mutex_);
      for (const std::span<const std::byte> span : written)
        for (std::size_t at = 0; at < span.size(); at += sizes_.piece_bytes) {
          const std::size_t bytes = std::min(sizes_.piece_bytes, span.size() - at);
          pieces_.push_back({number, span.data() + at, bytes, file_bytes_});
          ++slots_[number].pieces_left;
          file_bytes_ += bytes;
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
  std::size_t header_bytes_ = 0;                 // of the frame, and of the frame of each batch
  std::uint64_t file_bytes_ = 0;                 // written so far
  std::vector<FrameWriter::BlockBytes> blocks_;  // of the table behind the frames, if there is one

  cuda::Stream stream_;
  std::unique_ptr<BatchCompressor> compressor_;
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
