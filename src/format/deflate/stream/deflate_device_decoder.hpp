// Restores streams of DEFLATE in pieces on a device (docs/formats/gzip-in-parallel.md explains how).
//
// Input is gathered in pieces of tens of megabytes and uploaded as it comes. The decoder's own threads make
// the device restore from link to link. A link is a place between two blocks together with the content before
// it, so everything restored from there on is right. Most of the work needs no link. So while one piece is
// restored, the next one is prepared, and the calling thread gathers another one and starts the download of
// earlier content. A block that is cut by the end of a piece moves to the next piece.
//
// If the device confirms nothing, or little, the calling thread continues from the last good link with the
// decoder for one thread. It returns to the device at the beginning of a later block; further away each time
// that the device did not help. So that decoder alone judges everything that the device cannot restore, with
// the same verdict, in the same place, with the same content before it.
//
// If a device fails, nothing is lost: compressed bytes are kept until their content has arrived, and are
// restored again here. A device that fails a second time is no longer used: all threads restore the rest
// (deflate_parallel_decoder.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device_failures.hpp"
#include "core/large_buffer.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "format/deflate/stream/deflate_parallel_decoder.hpp"
#include "format/deflate/stream/deflate_piece_device.hpp"
#include "format/deflate/stream/deflate_stream_tuning.hpp"
#include "format/stream/arrivals.hpp"
#include "format/stream/piece_stream.hpp"

namespace hemstitch {

struct DeflateDeviceLimits {
  std::size_t piece_bytes =
      kDeflateDevicePieceBytes;  // host_pieces of them hold more than the header of a block takes
  std::size_t first_piece_bytes = kDeflateDeviceFirstPieceBytes;  // each later one has twice as much
  std::size_t lead_bytes = kDeflateDeviceLeadBytes;
  std::size_t overlap_bytes = kDeflateDeviceOverlapBytes;
  unsigned inputs = kDeflateDeviceInputs;  // of the device
  unsigned rooms = kDeflateDeviceRooms;    // with one, nothing is prepared
  unsigned outputs = kDeflateDeviceOutputs;
  std::size_t host_pieces =
      kDeflateDeviceInputs + kDeflateDeviceOutputs;      // pieces in memory at once; more than inputs
  std::size_t gather_bytes = kDeflateDeviceGatherBytes;  // requested at once
  std::size_t content_bytes = kDeflateDevicePieceBytes * kDeflateDeviceContentFactor;  // of an output
  std::size_t begin_bytes = 0;  // the first bytes, for which the device is not used
  std::size_t serial_bytes =
      kDeflateDeviceSerialBytes;  // the least that the calling thread restores before it retries the device
  DeflateParallelLimits processor = {.threads = 1};  // without the device

  std::uint64_t memory_bytes() const { return host_pieces * std::uint64_t{piece_bytes}; }
};

// The largest pieces that the means allow and that suit the size of the input. `device_bytes` returns how
// much memory a device takes for given limits; that is at most `device_limit_bytes`. Nothing if the processor
// should restore the stream, because there is little of it, or no memory.
std::optional<DeflateDeviceLimits> deflate_device_limits(
    const StreamMeans& means, std::uint64_t device_limit_bytes,
    const std::function<std::uint64_t(const DeflateDeviceLimits&)>& device_bytes);

class DeflateDeviceDecoder : public PieceStream {
 public:
  // `members`: streams are gzip members. `on_failure` is called for each failure of the device, from any
  // thread.
  DeflateDeviceDecoder(std::unique_ptr<DeflatePieceDevice> device, std::span<const std::byte> history,
                       bool members, const StreamMeans& means, const DeflateDeviceLimits& limits);
  ~DeflateDeviceDecoder() override;
  DeflateDeviceDecoder(const DeflateDeviceDecoder&) = delete;
  DeflateDeviceDecoder& operator=(const DeflateDeviceDecoder&) = delete;

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override;
  std::uint64_t ahead_bytes() const override {
    return PieceStream::ahead_bytes() + (parallel_ ? parallel_->ahead_bytes() : 0);
  }
  std::size_t read_ahead(std::span<std::byte> to) override;
  bool begin_next(std::span<const std::byte> history) override;
  std::optional<std::span<std::byte>> input_room() override;
  std::uint64_t under_way() const override { return arrivals_.under_way(); }
  void settle(std::uint64_t number) override;
  std::optional<std::uint32_t> content_crc32() const override;

  // How much of the content came from the device, for tests and measurements.
  std::uint64_t device_bytes() const { return device_bytes_; }

 private:
  struct Piece;
  struct Restored;
  struct Redone;
  // Content that is being downloaded.
  struct Arrival {
    std::uint64_t download = 0;  // 0: it is not downloaded
    std::span<std::byte> to;
    std::shared_ptr<Restored> restored;
    std::size_t part = 0;
    std::uint64_t part_at = 0;
  };
  using Pieces = std::deque<std::shared_ptr<Piece>>;
  enum class Mode {
    kAlone,     // nothing is read ahead
    kSerial,    // the calling thread restores
    kBoundary,  // between two blocks, the device continues
    kParallel,  // threads of the processor restore, until all streams end
    kEnded,
  };
  struct Task {
    enum class Kind {
      kRestore,
      kPrepare,
      kGiveUp,
      kWait,  // until another thread has prepared
    };
    Kind kind = Kind::kRestore;
    std::shared_ptr<Piece> piece = {}, carried = {};  // the second one if bytes of it are carried over
    std::size_t carried_bytes = 0;
    std::shared_ptr<Piece> gives_room = {};  // a prepared piece that gives up its room
  };

  std::size_t take(std::span<const std::byte> input);
  bool wait_for_held_piece();
  Piece* piece_to_fill();
  bool has_input_for_piece() const;
  std::optional<LargeBuffer> memory_for_piece();
  void seal(Piece& piece);
  void produce(StreamStep& step, std::span<std::byte> output, bool waits);
  bool restore_serially(StreamStep& step, std::span<std::byte> output);
  bool take_restored(bool waits);
  bool hand_over(StreamStep& step, std::span<std::byte> output);
  void arrive(std::span<std::byte> to);
  void leave_restored();
  void begin_serial_way();
  void go_on_serially(const StreamLink& link);
  bool is_for_processor() const;
  void go_on_in_parallel(const StreamLink& link);
  bool restore_in_parallel(StreamStep& step, std::span<std::byte> output, bool waits);
  void end_stream(StreamStep& step, std::uint64_t next_byte);
  void release(std::uint64_t before_byte);
  std::span<const std::byte> kept_from(std::uint64_t byte) const override;
  void sum_up(std::span<const std::byte> content);

  void work();
  void start_threads();
  std::optional<Task> next_task() const;
  std::optional<Task> next_restoring() const;
  std::optional<Task> next_preparing() const;
  std::shared_ptr<Piece> piece_to_give_room() const;
  unsigned input_of(const Piece& piece) const;
  void restore(const Task& task, std::unique_lock<std::mutex>& lock);
  void prepare(const Task& task, std::unique_lock<std::mutex>& lock);
  std::string failure_of(const std::function<void()>& call);
  void publish(const Piece& piece, unsigned output, StreamLink link, DeflatePieceRestored restored);
  void pass_inputs(std::uint64_t before_byte);
  void pass(Piece& piece);
  void fail(const std::string& reason);
  void redo(const Arrival& arrival);

  const std::unique_ptr<DeflatePieceDevice> device_;
  const bool members_;
  const bool settles_;  // the caller calls settle()
  const std::function<void(const std::string&)> on_failure_;
  const DeflateDeviceLimits limits_;

  // Only for the calling thread.
  Mode mode_ = Mode::kAlone;
  std::uint64_t device_bytes_ = 0;
  DeflateDecoder serial_;
  std::unique_ptr<DeflateParallelDecoder>
      parallel_;                    // once set, it has all bytes before position_, and may be ahead
  std::uint64_t serial_until_ = 0;  // the device is tried again at the next block that begins after this byte
  std::size_t serial_bytes_;        // of the next such stretch
  std::size_t next_piece_bytes_;
  std::uint32_t crc32_ = 0;  // of the current stream, so far
  std::shared_ptr<Restored> current_;
  std::size_t part_ = 0;
  std::uint64_t part_at_ = 0;
  bool in_serial_way_ = false;

  // Guarded by mutex_.
  Pieces pieces_;
  Pieces passed_;  // their bytes may still be needed
  std::size_t memory_count_ = 0;
  bool no_more_ = false;                // all input is known
  std::optional<StreamLink> link_;      // from which the device shall continue
  std::optional<StreamLink> given_up_;  // from which it did not continue
  std::uint64_t epoch_ = 0;             // results of an earlier epoch are dropped
  std::uint64_t passed_bytes_ = 0;      // the device needs nothing before this
  std::uint64_t released_bytes_ = 0;    // and nobody anything before this
  bool restores_ = false;               // whether a thread restores now
  std::deque<std::shared_ptr<Restored>> restored_;
  std::vector<unsigned> idle_outputs_, idle_rooms_;
  DeviceFailures failures_;

  Arrivals<Arrival> arrivals_{mutex_};
  std::unique_ptr<Redone> redone_;  // for arrivals_, which settles one after the other
};

}  // namespace hemstitch
