// What tests of the batch interface share: pieces on the device between guards, temporary memory, results, and a
// stream on which work runs directly or as a graph.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "captured_graph.hpp"
#include "cuda_test.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "hemstitch/batch.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

template <class T>
std::span<const T> as_span(const cuda::DeviceBuffer<T>& buffer) {
  return {buffer.get(), buffer.count()};
}
template <class T>
std::span<T> writable(const cuda::DeviceBuffer<T>& buffer) {
  return {buffer.get(), buffer.count()};
}

template <class T>
cuda::DeviceBuffer<T> upload(const std::vector<T>& from, cudaStream_t stream) {
  cuda::DeviceBuffer<T> buffer(from.size(), stream);
  if (!from.empty()) buffer.upload(from);
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return buffer;
}

template <class T>
std::vector<T> download(const cuda::DeviceBuffer<T>& buffer, cudaStream_t stream) {
  std::vector<T> into(buffer.count());
  if (!into.empty()) buffer.download(into);
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return into;
}

// Pieces on the device at all alignments, with guard bytes before, between and after them.
class Pieces {
 public:
  static constexpr std::byte kGuard{0xA5};
  static constexpr std::size_t kGuardBytes =
      13;  // not a multiple of any access's size, so all alignments occur

  Pieces(const std::vector<Bytes>& pieces, cudaStream_t stream) : stream_(stream) {
    Bytes all;
    for (const Bytes& piece : pieces) {
      all.insert(all.end(), kGuardBytes, kGuard);
      begins_.push_back(all.size());
      sizes_.push_back(piece.size());
      all.insert(all.end(), piece.begin(), piece.end());
    }
    all.insert(all.end(), kGuardBytes, kGuard);
    d_bytes_ = upload(all, stream);
    std::vector<const void*> addresses;
    std::vector<void*> rooms;
    for (const std::size_t begin : begins_) {
      addresses.push_back(d_bytes_.get() + begin);
      rooms.push_back(d_bytes_.get() + begin);
    }
    d_addresses_ = upload(addresses, stream);
    d_rooms_ = upload(rooms, stream);
    d_sizes_ = upload(sizes_, stream);
  }
  // Makes only rooms.
  Pieces(const std::vector<std::size_t>& sizes, cudaStream_t stream)
      : Pieces(
            [&] {
              std::vector<Bytes> pieces;
              for (const std::size_t size : sizes) pieces.emplace_back(size, kGuard);
              return pieces;
            }(),
            stream) {}

  std::span<const void* const> addresses() const { return as_span(d_addresses_); }
  std::span<void* const> rooms() const { return writable(d_rooms_); }
  std::span<const std::size_t> sizes() const { return as_span(d_sizes_); }
  std::byte* d_begin(std::size_t i) const { return d_bytes_.get() + begins_[i]; }

  // Returns the pieces as they are now; fails if a guard byte was changed.
  std::vector<Bytes> now() const {
    const Bytes all = download(d_bytes_, stream_);
    std::vector<Bytes> pieces;
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(begins_[i]);
      pieces.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(sizes_[i]));
      EXPECT_TRUE(std::all_of(begin - kGuardBytes, begin, [](std::byte byte) { return byte == kGuard; }))
          << "the guard before piece " << i << " was written to";
    }
    EXPECT_TRUE(std::all_of(all.end() - kGuardBytes, all.end(), [](std::byte byte) {
      return byte == kGuard;
    })) << "the last guard was written to";
    return pieces;
  }

 private:
  cudaStream_t stream_;
  std::vector<std::size_t> begins_, sizes_;
  cuda::DeviceBuffer<std::byte> d_bytes_;
  cuda::DeviceBuffer<const void*> d_addresses_;
  cuda::DeviceBuffer<void*> d_rooms_;
  cuda::DeviceBuffer<std::size_t> d_sizes_;
};

// Temporary memory that has garbage in it and begins at an odd address.
class TempMemory {
 public:
  TempMemory(std::size_t bytes, cudaStream_t stream) : bytes_(bytes), d_bytes_(bytes + 1, stream) {
    cuda::check(cudaMemsetAsync(d_bytes_.get(), 0xA5, d_bytes_.bytes(), stream), "cudaMemsetAsync");
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  batch::Temp span() const { return {d_bytes_.get() + 1, bytes_}; }

 private:
  std::size_t bytes_;
  cuda::DeviceBuffer<std::byte> d_bytes_;
};

struct Results {
  explicit Results(std::size_t count, cudaStream_t stream)
      : d_bytes(count, stream), d_statuses(count, stream) {
    if (count != 0) {
      cuda::check(cudaMemsetAsync(d_bytes.get(), 0xA5, d_bytes.bytes(), stream), "cudaMemsetAsync");
      cuda::check(cudaMemsetAsync(d_statuses.get(), 0xA5, d_statuses.bytes(), stream), "cudaMemsetAsync");
    }
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  cuda::DeviceBuffer<std::size_t> d_bytes;
  cuda::DeviceBuffer<hemstitch_status> d_statuses;
};

#define ASSERT_HEMSTITCH(call) ASSERT_EQ(call, HEMSTITCH_OK) << hemstitch_last_error_message()

class BatchDeviceTest : public CudaStreamTest {
 protected:
  // Enqueues the work directly, or captures it in a graph that it launches twice.
  void run(bool as_graph, const std::function<void()>& enqueue) const {
    if (!as_graph) {
      enqueue();
      synchronize();
      return;
    }
    const CapturedGraph graph(stream(), enqueue);
    graph.launch(2);
    synchronize();
  }
};

inline batch::Blocks blocks_of(const Pieces& pieces, const std::vector<Bytes>& raw) {
  batch::Blocks blocks{.blocks = pieces.addresses(), .block_bytes = pieces.sizes()};
  for (const Bytes& block : raw) {
    blocks.max_block_bytes = std::max(blocks.max_block_bytes, block.size());
    blocks.total_block_bytes += block.size();
  }
  return blocks;
}

// A text on the device, cut into blocks, each with what precedes it as its history.
struct TextBlocks {
  TextBlocks(const Bytes& text, std::size_t block_bytes, std::size_t most_history_bytes, cudaStream_t stream)
      : input(std::vector<Bytes>{text}, stream) {
    std::vector<const void*> addresses;
    for (std::size_t at = 0; at < text.size(); at += block_bytes) {
      addresses.push_back(input.d_begin(0) + at);
      histories.push_back(static_cast<std::uint32_t>(std::min(at, most_history_bytes)));
    }
    d_addresses = upload(addresses, stream);
    d_sizes = upload(std::vector<std::size_t>(addresses.size(), block_bytes), stream);
    d_histories = upload(histories, stream);
    blocks = {.blocks = as_span(d_addresses),
              .block_bytes = as_span(d_sizes),
              .history_bytes = as_span(d_histories),
              .max_block_bytes = block_bytes,
              .max_history_bytes = static_cast<std::uint32_t>(most_history_bytes),
              .total_block_bytes = text.size()};
  }

  Pieces input;
  std::vector<std::uint32_t> histories;
  cuda::DeviceBuffer<const void*> d_addresses;
  cuda::DeviceBuffer<std::size_t> d_sizes;
  cuda::DeviceBuffer<std::uint32_t> d_histories;
  batch::Blocks blocks;
};

}  // namespace hemstitch::testing
