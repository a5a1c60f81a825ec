// Restoring a frame whose blocks cannot be told apart from outside (BlockKind::kStream): piece by piece, by someone who
// keeps what later pieces need. Engines make one for each frame (engine/backend.hpp).
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

// What became of a piece.
struct StreamStep {
  std::size_t input_bytes = 0;   // taken: of a stream that has ended, none behind its end
  std::size_t output_bytes = 0;  // restored, also where what follows is damaged
  bool ended = false;
  Status status = Status::kOk;   // kCorruptBlock: this cannot go on
  std::string_view detail = {};  // of that: what is wrong, where it is known
  bool wants_input =
      false;  // nothing was restored, but there is room for input again (StreamDecoder::input_room())
  // Where it is not empty, all that was restored is here, in memory of the decoder's that `owner` keeps; the output is as it was, which may have less room.
  std::span<const std::byte> lent = {};
  std::shared_ptr<const std::byte> owner = {};
};

// A place in a stream where restoring may begin anew, given the content before it.
struct StreamPoint {
  std::uint64_t bits_before = 0;  // the end of what was taken and is not ahead, where it stands
  std::span<const std::byte>
      window;  // what stands before it, as far back as what follows may refer. Until the decoder's next call
};

class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;

  // Goes on until the stream has ended, all input is taken, or the output is full: then there may be more of it, also without
  // input. Throws Error (device family) where the device failed.
  virtual StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) = 0;

  // Of a decoder that reads ahead: how many bytes of those it took are not restored yet, or stand behind the end of a stream that has ended.
  // Without input it goes on with these.
  virtual std::uint64_t ahead_bytes() const { return 0; }
  // Takes back those behind the end of a stream that has ended, as many as there is room for; they stand before any input to come.
  virtual std::size_t read_ahead(std::span<std::byte> /*to*/) { return 0; }
  // Begins another stream, of the same format, where reading ahead has come to, or with the input to come. False where a decoder serves
  // one stream alone.
  virtual bool begin_next(std::span<const std::byte> /*history*/) { return false; }

  // Allows that content is lent instead of copied, to someone who keeps as many loans at once as StreamMeans says.
  virtual void lend_content() {}

  // Asks that restore() returns at each point that it comes to, even where it did nothing else. For decoders made with
  // StreamMeans::points.
  virtual void stop_at_points(bool /*stops*/) {}
  // The point where it stands, if there is one.
  virtual std::optional<StreamPoint> point() const { return std::nullopt; }

  // Where input to come may be put before it is given to restore(), which saves a copy: empty where none is taken before more is
  // restored, nothing where it may stand anywhere. Until the next call of any but settle().
  virtual std::optional<std::span<std::byte>> input_room() { return std::nullopt; }

  // Of a decoder whose content comes from a device, for a caller who settles (StreamMeans): what the steps so far restored may still be on its way into
  // its room, up to this number. 0: nothing is.
  virtual std::uint64_t under_way() const { return 0; }
  // Returns when all of it up to that number is there. Any thread may call it, also beside the other functions. Throws Error.
  virtual void settle(std::uint64_t /*number*/) {}
  // Of a decoder that sums content up: the CRC-32 of what it has restored of the stream at hand, or of the one that ended last.
  virtual std::optional<std::uint32_t> content_crc32() const { return std::nullopt; }
};

// What a decoder may use besides the thread that calls it.
struct StreamMeans {
  unsigned threads = 1;                           // that one among them
  std::uint64_t memory_bytes = 0;                 // besides what one thread needs; 0: as much as it likes
  std::optional<std::uint64_t> input_bytes = {};  // of all streams that it may be given, where that is known
  unsigned loans = 0;                             // content that it may lend at once
  bool points = false;                            // it is asked for points: who knows none makes no decoder
  std::uint64_t device_memory_bytes = 0;          // 0: half of what is free
  bool settles = false;                           // the caller settles what is under way
  // Told of each failure of a device that the decoder went on without, from any thread.
  std::function<void(const std::string& reason)> on_failure = {};
};

// And what it takes of it.
struct StreamMemory {
  std::uint64_t host_bytes = 0;    // besides what one thread needs
  std::uint64_t device_bytes = 0;  // 0: no device restores it
  std::uint64_t device_limit_bytes = 0;
};

}  // namespace hemstitch
