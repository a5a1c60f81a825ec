#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "batch/batch_timing.hpp"
#include "compact/gather/gather_cuda.hpp"
#include "format/formats.hpp"
#include "format/formats_cuda.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/event.hpp"
#include "gpu/device_names.hpp"

namespace hemstitch {
namespace {

using cuda::check;
using cuda::DeviceBuffer;
using cuda::Event;
using cuda::PinnedBuffer;

// Where the compressed blocks of a slice are: offsets, and sizes with kStoredBit.
struct CompressedSlice {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> sizes;
  std::uint64_t bytes() const { return offsets.back(); }
};

// A part of the data on the device, compressed into a span and restored from it. Its memory suffices for the
// largest part that it will be given.
class DeviceSlice {
 public:
  // The calling thread's current device must be `device`.
  DeviceSlice(cuda::Device& device, const cuda::DeviceFormat& format, std::size_t most_bytes,
              std::size_t block_bytes, int level)
      : format_(format),
        block_bytes_(block_bytes),
        most_blocks_((most_bytes + block_bytes - 1) / block_bytes),
        level_(level),
        d_raw_(most_bytes, stream_.get(), device.memory()),
        d_span_(most_bytes, stream_.get(), device.memory()),
        d_restored_(most_bytes, stream_.get(), device.memory()),
        d_blocks_(most_blocks_, stream_.get(), device.memory()),
        d_places_and_sizes_(most_blocks_ + 1 + (most_blocks_ + 1) / 2, stream_.get(), device.memory()),
        h_places_and_sizes_(most_blocks_ + 1 + (most_blocks_ + 1) / 2),
        d_compress_statuses_(most_blocks_, stream_.get(), device.memory()),
        d_sources_(most_blocks_, stream_.get(), device.memory()),
        d_source_bytes_(most_blocks_, stream_.get(), device.memory()),
        d_outputs_(most_blocks_, stream_.get(), device.memory()),
        d_rooms_(most_blocks_, stream_.get(), device.memory()),
        d_output_bytes_(most_blocks_, stream_.get(), device.memory()),
        d_statuses_(most_blocks_, stream_.get(), device.memory()),
        d_stored_bytes_(most_blocks_, stream_.get(), device.memory()),
        d_places_(most_blocks_, stream_.get(), device.memory()) {
    set_bytes(most_bytes);
    d_scratch_ =
        DeviceBuffer<std::byte>(std::max(format_.compress_span_scratch_bytes(batch_, level_, block_bytes_),
                                         format_.restore_scratch_bytes(restore_batch())),
                                stream_.get(), device.memory());
    d_gather_ = DeviceBuffer<std::byte>(cuda::gather_pieces_cuda_scratch_bytes(most_blocks_), stream_.get(),
                                        device.memory());
  }

  cudaStream_t stream() const { return stream_.get(); }
  void synchronize() const { stream_.synchronize(); }
  std::byte* d_raw() const { return d_raw_.get(); }
  std::byte* d_span() const { return d_span_.get(); }
  std::byte* d_restored() const { return d_restored_.get(); }

  // How many bytes of the data the next calls work on. Most batches are as large as the one before. For
  // another size the blocks are uploaded again, and that copy waits behind the data of all batches.
  void set_bytes(std::size_t bytes) {
    if (bytes == bytes_) return;
    bytes_ = bytes;
    std::vector<DeviceBlock> blocks;
    for (std::size_t at = 0; at < bytes; at += block_bytes_)
      blocks.push_back(
          {d_raw_.get() + at, static_cast<std::uint32_t>(std::min(block_bytes_, bytes - at)), 0, at});
    batch_ = {d_blocks_.get(), static_cast<std::uint32_t>(blocks.size()),
              static_cast<std::uint32_t>(std::min(block_bytes_, bytes)), 0, bytes};
    d_blocks_.upload(blocks);
    synchronize();
  }

  void compress() {
    format_.compress_span(
        batch_, level_, block_bytes_,
        {.d_span = d_span_.get(),
         .capacity_bytes = bytes_,
         .lead_bytes = 0,
         .trail_bytes = 0,
         .d_offsets = d_places_and_sizes_.get(),
         .d_sizes = reinterpret_cast<std::uint32_t*>(d_places_and_sizes_.get() + most_blocks_ + 1),
         .d_statuses = d_compress_statuses_.get()},
        d_scratch_.get(), d_scratch_.bytes(), stream());
  }

  // Waits for compress(). Uses one copy, to pinned memory, since each copy waits behind those of the other
  // slices.
  CompressedSlice compressed() const {
    check(cudaMemcpyAsync(
              h_places_and_sizes_.span().data(), d_places_and_sizes_.get(),
              (most_blocks_ + 1) * sizeof(std::uint64_t) + batch_.block_count * sizeof(std::uint32_t),
              cudaMemcpyDeviceToHost, stream()),
          "cudaMemcpyAsync");
    synchronize();
    const std::uint64_t* const offsets = h_places_and_sizes_.span().data();
    const auto* const sizes = reinterpret_cast<const std::uint32_t*>(offsets + most_blocks_ + 1);
    return {{offsets, offsets + batch_.block_count + 1}, {sizes, sizes + batch_.block_count}};
  }

  // `slice` describes what d_span() holds.
  void set_compressed(const CompressedSlice& slice) {
    const std::size_t count = batch_.block_count;
    std::vector<const std::byte*> sources(count);
    std::vector<std::size_t> source_bytes(count), rooms(count);
    std::vector<std::byte*> outputs(count);
    std::vector<std::uint32_t> stored_bytes(count);
    std::vector<std::uint64_t> places(count);
    for (std::size_t i = 0; i < count; ++i) {
      const bool stored = (slice.sizes[i] & cuda::kStoredBit) != 0;
      const std::uint32_t size = slice.sizes[i] & ~cuda::kStoredBit;
      places[i] = i * block_bytes_;
      sources[i] = d_span_.get() + slice.offsets[i];
      outputs[i] = d_restored_.get() + places[i];
      rooms[i] = std::min(block_bytes_, bytes_ - i * block_bytes_);
      source_bytes[i] = stored ? 0 : size;
      stored_bytes[i] = stored ? size : 0;
    }
    d_sources_.upload(sources);
    d_source_bytes_.upload(source_bytes);
    d_outputs_.upload(outputs);
    d_rooms_.upload(rooms);
    d_stored_bytes_.upload(stored_bytes);
    d_places_.upload(places);
    synchronize();
  }

  void restore() {
    format_.restore(restore_batch(), d_scratch_.get(), d_scratch_.bytes(), stream());
    cuda::gather_pieces_cuda(d_sources_.get(), d_stored_bytes_.get(), d_places_.get(), batch_.block_count,
                             d_restored_.get(), d_gather_.get(), d_gather_.bytes(), stream());
  }

 private:
  cuda::DeviceRestore restore_batch() const {
    return {.d_blocks = d_sources_.get(),
            .d_block_bytes = d_source_bytes_.get(),
            .d_outputs = d_outputs_.get(),
            .d_capacities = d_rooms_.get(),
            .d_output_bytes = d_output_bytes_.get(),
            .d_statuses = d_statuses_.get(),
            .count = batch_.block_count,
            .max_capacity = batch_.max_block_bytes,
            .max_block_bytes = batch_.max_block_bytes};
  }

  const cuda::DeviceFormat& format_;
  cuda::Stream stream_;
  std::size_t block_bytes_, most_blocks_, bytes_ = 0;
  int level_;
  DeviceBuffer<std::byte> d_raw_, d_span_, d_restored_;
  DeviceBuffer<DeviceBlock> d_blocks_;
  DeviceBuffer<std::uint64_t> d_places_and_sizes_;  // of a slice's blocks: 64-bit places, then 32-bit sizes
  cuda::PinnedBuffer<std::uint64_t> h_places_and_sizes_;
  DeviceBuffer<hemstitch_status> d_compress_statuses_;
  DeviceBuffer<const std::byte*> d_sources_;
  DeviceBuffer<std::size_t> d_source_bytes_;
  DeviceBuffer<std::byte*> d_outputs_;
  DeviceBuffer<std::size_t> d_rooms_, d_output_bytes_;
  DeviceBuffer<hemstitch_status> d_statuses_;
  DeviceBuffer<std::uint32_t> d_stored_bytes_;
  DeviceBuffer<std::uint64_t> d_places_;
  DeviceBuffer<std::byte> d_scratch_, d_gather_;
  DeviceBlocks batch_;
};

// The time of the fastest run. Runs for `seconds` in all, after one run that does not count.
double fastest(double seconds, const std::function<double()>& run) {
  run();
  double best = std::numeric_limits<double>::infinity(), spent = 0;
  do {
    const double one = run();
    best = std::min(best, one);
    spent += one;
  } while (spent < seconds);
  return best;
}

void require_equal(std::span<const std::byte> restored, std::span<const std::byte> data) {
  if (std::memcmp(restored.data(), data.data(), data.size()) != 0)
    throw Error(Status::kInternal, "the restored data differs from the original");
}

// A slice, and the device where it is.
struct PlacedSlice {
  cuda::Device* device;
  std::unique_ptr<DeviceSlice> slice;
  std::span<const std::byte> data;
};

// Starts the work on a thread for each slice, all at once. Returns the time until the last one has ended.
double seconds_together(std::span<const PlacedSlice> parts, const std::function<void(DeviceSlice&)>& work) {
  using Clock = std::chrono::steady_clock;
  std::barrier ready(static_cast<std::ptrdiff_t>(parts.size()));
  std::vector<Clock::time_point> begins(parts.size()), ends(parts.size());
  std::vector<std::exception_ptr> errors(parts.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < parts.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        parts[i].device->make_current();
      } catch (...) {
        errors[i] = std::current_exception();
      }
      ready.arrive_and_wait();
      begins[i] = Clock::now();
      try {
        if (!errors[i]) work(*parts[i].slice);
      } catch (...) {
        errors[i] = std::current_exception();
      }
      ends[i] = Clock::now();
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return std::chrono::duration<double>(*std::ranges::max_element(ends) - *std::ranges::min_element(begins))
      .count();
}

// One device times its kernels itself. Several devices take a part of the data each, and the host times them.
BatchTiming time_kernels(std::span<cuda::Device* const> devices, const cuda::DeviceFormat& format,
                         std::span<const std::byte> data, const TimedWork& work, double seconds) {
  const std::size_t block_count = (data.size() + work.block_bytes - 1) / work.block_bytes;
  const std::size_t part_bytes = (block_count + devices.size() - 1) / devices.size() * work.block_bytes;
  std::vector<PlacedSlice> parts;
  for (std::size_t at = 0; at < data.size(); at += part_bytes) {
    cuda::Device& device = *devices[parts.size()];
    const auto part = data.subspan(at, std::min(part_bytes, data.size() - at));
    device.make_current();
    parts.push_back({&device,
                     std::make_unique<DeviceSlice>(device, format, part.size(), work.block_bytes, work.level),
                     part});
    check(cudaMemcpy(parts.back().slice->d_raw(), part.data(), part.size(), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }
  const auto kernel_seconds = [&](const std::function<void(DeviceSlice&)>& enqueue) {
    if (parts.size() > 1)
      return seconds_together(parts, [&](DeviceSlice& slice) { enqueue(slice), slice.synchronize(); });
    parts[0].device->make_current();
    DeviceSlice& slice = *parts[0].slice;
    Event begin(Event::Kind::kTiming), end(Event::Kind::kTiming);
    begin.record(slice.stream());
    enqueue(slice);
    end.record(slice.stream());
    end.synchronize();
    return static_cast<double>(end.milliseconds_since(begin)) / 1e3;
  };

  BatchTiming timing;
  timing.compress_seconds =
      fastest(seconds, [&] { return kernel_seconds([](DeviceSlice& slice) { slice.compress(); }); });
  for (const PlacedSlice& part : parts) {
    part.device->make_current();
    const CompressedSlice compressed = part.slice->compressed();
    timing.compressed_bytes += compressed.bytes();
    part.slice->set_compressed(compressed);
  }
  timing.restore_seconds =
      fastest(seconds, [&] { return kernel_seconds([](DeviceSlice& slice) { slice.restore(); }); });
  for (const PlacedSlice& part : parts) {
    part.device->make_current();
    std::vector<std::byte> restored(part.data.size());
    check(cudaMemcpy(restored.data(), part.slice->d_restored(), part.data.size(), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    require_equal(restored, part.data);
  }
  return timing;
}

void copy(const DeviceSlice& slice, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  check(cudaMemcpyAsync(to, from, bytes, kind, slice.stream()), "cudaMemcpyAsync");
}

// Several devices have equally many slices. Each slice takes the next part of the data when it is free.
BatchTiming time_pinned(std::span<cuda::Device* const> devices, const cuda::DeviceFormat& format,
                        std::span<const std::byte> data, const TimedWork& work, double seconds) {
  const std::size_t slice_bytes =
      std::max(work.batch_bytes / work.block_bytes, std::size_t{1}) * work.block_bytes;
  const std::size_t slice_count = (data.size() + slice_bytes - 1) / slice_bytes;
  const auto bytes_of = [&](std::size_t i) { return std::min(slice_bytes, data.size() - i * slice_bytes); };
  const PinnedBuffer<std::byte> raw(data.size()), spans(data.size()), restored(data.size());
  std::copy(data.begin(), data.end(), raw.span().begin());
  std::vector<CompressedSlice> compressed(slice_count);
  std::vector<PlacedSlice> slices;
  for (unsigned i = 0; i < work.batch_count; ++i)
    for (cuda::Device* device : devices) {
      device->make_current();
      slices.push_back({device,
                        std::make_unique<DeviceSlice>(*device, format, std::min(slice_bytes, data.size()),
                                                      work.block_bytes, work.level),
                        {}});
    }

  // Calls run(slice, number) for every part of the data, on a thread for each slice.
  const auto seconds_of = [&](const auto& run) {
    std::atomic<std::size_t> next = 0;
    return seconds_together(slices, [&](DeviceSlice& slice) {
      for (std::size_t i; (i = next++) < slice_count;) run(slice, i);
      slice.synchronize();
    });
  };
  BatchTiming timing;
  timing.compress_seconds = fastest(seconds, [&] {
    return seconds_of([&](DeviceSlice& slice, std::size_t i) {
      slice.set_bytes(bytes_of(i));
      copy(slice, slice.d_raw(), raw.span().data() + i * slice_bytes, bytes_of(i), cudaMemcpyHostToDevice);
      slice.compress();
      compressed[i] = slice.compressed();
      copy(slice, spans.span().data() + i * slice_bytes, slice.d_span(), compressed[i].bytes(),
           cudaMemcpyDeviceToHost);
    });
  });
  for (const CompressedSlice& slice : compressed) timing.compressed_bytes += slice.bytes();
  timing.restore_seconds = fastest(seconds, [&] {
    return seconds_of([&](DeviceSlice& slice, std::size_t i) {
      slice.set_bytes(bytes_of(i));
      slice.set_compressed(compressed[i]);
      copy(slice, slice.d_span(), spans.span().data() + i * slice_bytes, compressed[i].bytes(),
           cudaMemcpyHostToDevice);
      slice.restore();
      copy(slice, restored.span().data() + i * slice_bytes, slice.d_restored(), bytes_of(i),
           cudaMemcpyDeviceToHost);
    });
  });
  require_equal(restored.span(), data);
  return timing;
}

}  // namespace

BatchTiming time_batches(std::span<const std::byte> data, const TimedWork& work, double seconds,
                         std::string_view wanted) {
  const cuda::DeviceFormat* const wanted_format = cuda::device_format(work.format);
  const cuda::DeviceFormat* const format =
      wanted_format == nullptr ? nullptr : cuda::device_format(wanted_format->of_separate_blocks());
  if (format == nullptr || !format->restores())
    throw Error(Status::kInvalidOption, fmt::format("CUDA devices do not restore {} block by block",
                                                    FormatTable::instance().of(work.format).title()));
  const std::vector<cuda::Device*> devices = cuda::open_devices(wanted_device(wanted));
  return work.span == TimedSpan::kKernel ? time_kernels(devices, *format, data, work, seconds)
                                         : time_pinned(devices, *format, data, work, seconds);
}

}  // namespace hemstitch
