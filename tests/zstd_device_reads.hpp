// One frame of Zstandard by ZstdDeviceDecoder, on any device, beside the reference restorer: the same content, verdict, place and message.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "format/zstd/stream/zstd_device_decoder.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {

enum class PieceSize { kBlock, kSome, kMany };
inline constexpr PieceSize kPieceSizes[] = {PieceSize::kBlock, PieceSize::kSome, PieceSize::kMany};

// With these, small frames cross every boundary.
inline ZstdDeviceLimits device_limits_of(PieceSize size, std::uint64_t window_bytes) {
  const auto block_bytes =
      static_cast<std::size_t>(std::clamp<std::uint64_t>(window_bytes, 1, kZstdMostBlockBytes));
  ZstdDeviceLimits limits;
  const std::size_t blocks = size == PieceSize::kBlock ? 1 : size == PieceSize::kSome ? 3 : 8;
  limits.content_bytes = blocks * block_bytes;
  limits.input_bytes = limits.content_bytes / 2 + (block_bytes + 1) / 2 + kZstdBlockHeaderBytes;
  limits.blocks = 2 * blocks;
  return limits;
}

// Settles each step, and gives the first byte alone: a short frame that comes whole is not the device's.
class SettledDecoder : public StreamDecoder {
 public:
  SettledDecoder(StreamDecoder& decoder, bool settles) : decoder_(decoder), settles_(settles) {}

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override {
    if (!std::exchange(is_begun_, true)) input = input.first(std::min<std::size_t>(input.size(), 1));
    const StreamStep step = decoder_.restore(input, output);
    if (settles_) decoder_.settle(decoder_.under_way());
    return step;
  }
  std::uint64_t ahead_bytes() const override { return decoder_.ahead_bytes(); }

 private:
  StreamDecoder& decoder_;
  bool settles_, is_begun_ = false;
};

struct ReadByDevice {
  ZstdRead read;
  std::uint64_t device_bytes = 0, device_steps = 0;
  std::vector<std::string> failures;
};

struct DeviceOptions {
  PieceSize size = PieceSize::kSome;
  bool settles = false;
  std::size_t piece_bytes = 1 << 14;
  unsigned threads = 1;  // without the device
};

// What makes a device for frames with this window.
using ZstdDeviceOfWindow =
    std::function<std::unique_ptr<ZstdPieceDevice>(std::uint64_t window_bytes, const ZstdDeviceLimits&)>;

struct DeviceDecoder {
  DeviceDecoder(std::uint64_t window_bytes, const DeviceOptions& options,
                const ZstdDeviceOfWindow& make_device) {
    ZstdDeviceLimits limits = device_limits_of(options.size, window_bytes);
    limits.processor = {.threads = options.threads, .group_bytes = 1, .group_blocks = 1, .begin_groups = 0};
    StreamMeans means;
    means.settles = options.settles;
    means.on_failure = [this](const std::string& reason) {
      const std::scoped_lock lock(mutex);
      failures.push_back(reason);
    };
    const auto make = [=](ZstdDeviceLimits& made) { return make_device(window_bytes, made); };
    decoder = std::make_unique<ZstdDeviceDecoder>(
        window_bytes, std::make_unique<ZstdReferenceDecoder>(window_bytes, ZstdDictionary()), make, means,
        limits);
  }

  std::mutex mutex;
  std::vector<std::string> failures;
  std::unique_ptr<ZstdDeviceDecoder> decoder;
};

inline ReadByDevice read_by_device(std::span<const std::byte> frame, const DeviceOptions& options,
                                   const ZstdDeviceOfWindow& make_device) {
  ReadByDevice result;
  std::unique_ptr<DeviceDecoder> made;
  std::unique_ptr<SettledDecoder> settled;
  result.read =
      read_in_pieces(frame, {}, options.piece_bytes, [&](std::uint64_t window_bytes, const ZstdDictionary&) {
        made = std::make_unique<DeviceDecoder>(window_bytes, options, make_device);
        settled = std::make_unique<SettledDecoder>(*made->decoder, options.settles);
        return settled.get();
      });
  if (!made) return result;
  result.device_bytes = made->decoder->device_bytes();
  result.device_steps = made->decoder->device_steps();
  result.failures = made->failures;
  return result;
}

inline ReadByDevice require_by_reference(std::span<const std::byte> frame, const DeviceOptions& options,
                                         const ZstdDeviceOfWindow& make_device) {
  const ZstdRead expected = read_by_reference(frame);
  ReadByDevice result = read_by_device(frame, options, make_device);
  const ZstdRead& read = result.read;
  const auto compare = [&] {
    SCOPED_TRACE(read.why + " | " + expected.why);
    ASSERT_EQ(read.outcome, expected.outcome);
    // Said by whoever counts the content: perhaps before damage behind it is reached.
    if (read.why == "content size" || expected.why == "content size") return;
    ASSERT_EQ(read.why, expected.why);
    ASSERT_TRUE(read.content == expected.content);
    ASSERT_EQ(read.used_bytes, expected.used_bytes);
  };
  compare();
  return result;
}

}  // namespace hemstitch::testing
