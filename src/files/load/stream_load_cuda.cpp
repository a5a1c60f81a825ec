#include "files/load/stream_load_cuda.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/bytes.hpp"
#include "core/descriptor.hpp"
#include "core/device_failures.hpp"
#include "core/options.hpp"
#include "files/load/read_contents.hpp"
#include "format/formats_cuda.hpp"
#include "format/stream_in_memory_cuda.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/event.hpp"

namespace hemstitch {
namespace {

using cuda::check;
using cuda::DeviceBuffer;
using cuda::Event;
using cuda::FrameMemory;

constexpr std::size_t kHeadBytes = 512;

bool read_at(int descriptor, std::uint64_t at, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t count = pread(descriptor, into.data(), into.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += static_cast<std::uint64_t>(count);
    into = into.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

Descriptor opened(const std::string& path) { return Descriptor(open(path.c_str(), kReadContentsFlags)); }

// Reads the pieces of the file and uploads them, on threads.
class Arrivals {
 public:
  Arrivals(cuda::Device& device, int descriptor, std::uint64_t file_bytes, std::byte* d_file,
           unsigned threads, std::size_t piece_bytes)
      : device_(device),
        descriptor_(descriptor),
        file_bytes_(file_bytes),
        d_file_(d_file),
        piece_bytes_(piece_bytes),
        sent_((file_bytes + piece_bytes - 1) / piece_bytes) {
    const auto count = std::min<std::size_t>(threads, sent_.size());
    threads_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      try {
        threads_.emplace_back([this] { read(); });
      } catch (const std::system_error&) {
        if (threads_.empty()) throw;
        break;
      }
    }
  }
  ~Arrivals() {
    {
      const std::scoped_lock lock(mutex_);
      stops_ = true;
    }
    for (std::thread& thread : threads_) thread.join();
  }

  // Makes the stream wait for the bytes before `end`.
  void hold(std::uint64_t end, cudaStream_t stream) {
    for (; held_ < sent_.size() && held_ * piece_bytes_ < end; ++held_) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return sent_[held_] != nullptr || failed_; });
      if (failed_) throw Error(Status::kReadFailed, "the file cannot be read as a whole");
      sent_[held_]->hold(stream);
    }
  }

 private:
  void read() {
    try {
      device_.make_current();
      const cuda::PinnedPool::Block memory = device_.pinned().take(2 * piece_bytes_);
      const cuda::Stream stream;
      const struct Wait {  // even if something throws, since copies may still read the pinned memory
        const cuda::Stream& stream;
        ~Wait() { cudaStreamSynchronize(stream.get()); }
      } wait{stream};
      std::array<Event, 2> passed{Event(Event::Kind::kWait), Event(Event::Kind::kWait)};
      for (std::size_t turn = 0;; ++turn) {
        std::size_t piece;
        {
          const std::scoped_lock lock(mutex_);
          if (stops_ || failed_ || taken_ == sent_.size()) break;
          piece = taken_++;
        }
        const std::uint64_t at = piece * std::uint64_t{piece_bytes_};
        const auto room = memory.span().subspan(
            turn % 2 * piece_bytes_,
            static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes_, file_bytes_ - at)));
        passed[turn % 2].synchronize();
        if (!read_at(descriptor_, at, room)) throw Error(Status::kReadFailed, "the file cannot be read");
        auto sent = std::make_unique<Event>();
        check(cudaMemcpyAsync(d_file_ + at, room.data(), room.size(), cudaMemcpyHostToDevice, stream.get()),
              "cudaMemcpyAsync");
        sent->record(stream.get());
        passed[turn % 2].record(stream.get());
        {
          const std::scoped_lock lock(mutex_);
          sent_[piece] = std::move(sent);
        }
        changed_.notify_all();
      }
    } catch (const std::exception&) {
      {
        const std::scoped_lock lock(mutex_);
        failed_ = true;
      }
      changed_.notify_all();
    }
  }

  cuda::Device& device_;
  const int descriptor_;
  const std::uint64_t file_bytes_;
  std::byte* const d_file_;
  const std::size_t piece_bytes_;
  std::size_t held_ = 0;  // used by the thread that waits

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Event>> sent_;
  std::size_t taken_ = 0;
  bool failed_ = false, stops_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace

bool is_long_stream(const std::string& path, std::uint64_t file_bytes, const FrameLoadSizes& sizes) {
  if (file_bytes < sizes.least_stream_bytes) return false;
  const Descriptor descriptor = opened(path);
  std::vector<std::byte> head(static_cast<std::size_t>(std::min<std::uint64_t>(kHeadBytes, file_bytes)));
  return descriptor.number() >= 0 && read_at(descriptor.number(), 0, head) &&
         cuda::device_format_of_stream(head) != nullptr;
}

std::optional<FrameMemory> load_stream_cuda(cuda::Device& device, const std::string& path,
                                            std::uint64_t file_bytes, const FrameLoadOptions& options,
                                            const FrameLoadSizes& sizes) {
  try {
    const Descriptor descriptor = opened(path);
    std::vector<std::byte> head(static_cast<std::size_t>(std::min<std::uint64_t>(kHeadBytes, file_bytes)));
    std::byte tail[4];
    if (descriptor.number() < 0 || !read_at(descriptor.number(), 0, head) ||
        !read_at(descriptor.number(), file_bytes - sizeof tail, tail))
      return std::nullopt;
    const cuda::DeviceFormat* const format = cuda::device_format_of_stream(head);
    if (format == nullptr) return std::nullopt;

    const cuda::Stream stream;
    // gzip stores the size of the last member modulo 2^32, which is a good guess; content is seldom smaller
    // than the compressed bytes.
    std::uint64_t expected_bytes = 3 * file_bytes;
    if (format->id() == Format::kGzip) {
      expected_bytes = load_le32(tail);
      while (expected_bytes < file_bytes - file_bytes / 64) expected_bytes += std::uint64_t{1} << 32;
    }
    // A wrong size must not take all memory. No stream has a larger ratio.
    constexpr std::uint64_t kMostRatio = 1032;
    expected_bytes = std::min(expected_bytes, file_bytes * kMostRatio);
    FrameMemory content(device, expected_bytes, stream.get());
    const DeviceBuffer<std::byte> file(file_bytes, stream.get(), device.memory());
    const std::size_t temp_bytes = format->stream_temp_bytes(file_bytes, expected_bytes);
    const DeviceBuffer<std::byte> temp(temp_bytes, stream.get(), device.memory());
    stream.synchronize();  // other streams write to this memory
    const auto move_to = [&](std::uint64_t bytes, std::uint64_t used) {
      FrameMemory other(device, bytes, stream.get());
      check(cudaMemcpyAsync(other.data(), content.data(), used, cudaMemcpyDeviceToDevice, stream.get()),
            "cudaMemcpyAsync");
      content = std::move(other);
    };
    Arrivals arrivals(device, descriptor.number(), file_bytes, file.get(), resolve_threads(options.threads),
                      sizes.most_piece_bytes);
    const cuda::StreamInMemory work{
        .d_data = file.get(),
        .bytes = file_bytes,
        .arrive = [&](std::uint64_t end) { arrivals.hold(end, stream.get()); },
        .output = {content.data(), static_cast<std::size_t>(content.bytes())},
        .grow =
            [&](std::uint64_t used, std::uint64_t wanted) {
              move_to(std::max(content.bytes() + content.bytes() / 2 + (std::uint64_t{1} << 20), wanted),
                      used);
              return std::span(content.data(), static_cast<std::size_t>(content.bytes()));
            },
        .verifies = options.verify_checksums};
    const cuda::StreamOutcome outcome = format->restore_stream(work, temp.get(), temp.bytes(), stream.get());
    if (outcome.status != Status::kOk) return std::nullopt;
    if (content.bytes() - outcome.content_bytes > outcome.content_bytes / 8)
      move_to(outcome.content_bytes, outcome.content_bytes);
    stream.synchronize();
    content.complete(outcome.content_bytes, options.stream);
    return content;
  } catch (const Error& error) {
    if (is_device_failure(error) || error.status() == Status::kReadFailed) return std::nullopt;
    throw;
  }
}

}  // namespace hemstitch
