// Restores a frame whose blocks cannot be told apart from outside (BlockKind::kStream), piece by piece. The
// decoder keeps what later pieces need. Engines make one for each frame (engine/backend.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/status.hpp"

namespace hemstitch {

// The result of restoring a piece.
struct StreamStep {
  std::size_t input_bytes = 0;   // taken; after the end of the stream: none
  std::size_t output_bytes = 0;  // restored, even if what follows is damaged
  bool ended = false;
  Status status = Status::kOk;   // kCorruptBlock: it cannot continue
  std::string_view detail = {};  // for that status: what is wrong, if known
  bool wants_input =
      false;  // nothing was restored, but there is room for input again (StreamDecoder::input_room())
  // If not empty, everything that was restored is here, in memory of the decoder that `owner` keeps alive.
  // The output is unchanged and may be smaller.
  std::span<const std::byte> lent = {};
  std::shared_ptr<const std::byte> owner = {};
};

// A place in a stream where restoring may begin again, given the content before it.
struct StreamPoint {
  std::uint64_t bits_before =
      0;  // from here to the end of the bytes that were taken, without those read ahead
  std::span<const std::byte>
      window;  // the content before it, as far back as matches may reach. Valid until the decoder's next call
};

class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;

  // Continues until the stream ends, all input is taken, or the output is full. If the output is full,
  // there may be more content even without further input. Throws Error (device family) if the device
  // failed.
  virtual StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) = 0;

  // The same without input, although more will come: restores everything that the input so far gives. If that
  // is nothing, neither bytes nor an end, more input is needed.
  virtual StreamStep restore_so_far(std::span<std::byte> output) { return restore({}, output); }

  // For a decoder that reads ahead: how many of the bytes it took are not restored yet, or lie after the
  // end of the stream. Without input it continues with these.
  virtual std::uint64_t ahead_bytes() const { return 0; }
  // Returns bytes from after the end of a stream, as many as fit into `to`; they come before any further
  // input.
  virtual std::size_t read_ahead(std::span<std::byte> /*to*/) { return 0; }
  // Begins another stream of the same format, with the bytes read ahead or with the input to come. Returns
  // false if a decoder serves only one stream.
  virtual bool begin_next(std::span<const std::byte> /*history*/) { return false; }

  // Allows the decoder to lend content instead of copying it. The caller keeps at most StreamMeans::loans
  // loans at once.
  virtual void lend_content() {}

  // Makes restore() return at each point that it reaches, even if it did nothing else. For decoders made
  // with StreamMeans::points.
  virtual void stop_at_points(bool /*stops*/) {}
  // The point where the decoder is now, if there is one.
  virtual std::optional<StreamPoint> point() const { return std::nullopt; }

  // Where the next input may be put before restore() is called with it, which saves a copy. Empty if the
  // decoder takes no input before it has restored more; nothing if the input may be anywhere. Valid until
  // the next call of any function except settle().
  virtual std::optional<std::span<std::byte>> input_room() { return std::nullopt; }

  // For a decoder with a device, and a caller that calls settle() (StreamMeans): content that the steps so
  // far restored may still be in transfer to its room, up to this number. 0: nothing is.
  virtual std::uint64_t under_way() const { return 0; }
  // Returns when everything up to this number has arrived. Any thread may call it, even during calls of the
  // other functions. Throws Error.
  virtual void settle(std::uint64_t /*number*/) {}
  // For a decoder that computes checksums: the CRC-32 of what it has restored of the current stream, or of
  // the one that ended last.
  virtual std::optional<std::uint32_t> content_crc32() const { return std::nullopt; }
};

// What a decoder may use besides the thread that calls it.
struct StreamMeans {
  unsigned threads = 1;                           // including that one
  std::uint64_t memory_bytes = 0;                 // besides what one thread needs; 0: no limit
  std::optional<std::uint64_t> input_bytes = {};  // of all streams that it may get, if known
  unsigned loans = 0;                             // how many pieces of content it may lend at once
  bool points = false;  // the caller wants points; if the engine supports none, it makes no decoder
  std::uint64_t device_memory_bytes = 0;  // 0: half of the free memory
  bool settles = false;                   // the caller calls settle()
  std::uint64_t dictionary_bytes = 0;
  std::uint64_t window_bytes = 0;  // how far back matches may reach; 0: as far as is usual in the format
  // Called, from any thread, for each device failure after which the decoder continued without the device.
  std::function<void(const std::string& reason)> on_failure = {};
};

// How much of that it takes.
struct StreamMemory {
  std::uint64_t host_bytes = 0;    // besides what one thread needs
  std::uint64_t device_bytes = 0;  // 0: no device restores it
  std::uint64_t device_limit_bytes = 0;
};

}  // namespace hemstitch
