// Restores one stream of DEFLATE by several threads (docs/formats/gzip-in-parallel.md explains how).
//
// The input is cut into pieces. Threads look for a block's beginning in each and restore from there, at first
// to symbols (deflate_piece.hpp). Meanwhile the calling thread restores the stream from its beginning with
// the decoder for one thread, which is always right. If it comes, at the end of a block, to the very place
// from which a piece was restored, that piece is what follows: what follows a header depends only on the bits
// from there on and on the window, which is known now. So the piece is linked, its markers become bytes, and
// the next link is looked for at its end. If no piece fits, the calling thread continues by itself. So only
// the decoder for one thread meets damage, in the same place, with the same content before it.
//
// For gzip, consecutive members are pieces like any others: the bytes between them are only scanned to find
// where the next one begins. The caller reads and judges them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "format/deflate/restore/deflate_restore.hpp"
#include "format/deflate/stream/deflate_piece.hpp"
#include "format/deflate/stream/deflate_stream_tuning.hpp"
#include "format/stream/content_pool.hpp"
#include "format/stream/piece_stream.hpp"

namespace hemstitch {

struct DeflateParallelLimits {
  unsigned threads = 2;                                    // including the calling one
  std::size_t pieces = 4;                                  // in memory at once
  std::size_t piece_bytes = kDeflateStreamPieceBytes;      // at most, and at least:
  std::size_t overlap_bytes = kDeflateStreamOverlapBytes;  // of the next piece, in a piece at most
  std::size_t content_bytes = kDeflateStreamContentBytes;  // in a piece at most
  std::uint64_t contents_bytes =
      kDeflateStreamContentBytes * std::uint64_t{4};  // of all pieces, lent ones too
  std::size_t begin_bytes = kDeflateStreamBeginBytes;
  std::size_t lent_bytes = kDeflateStreamLentBytes;  // how much is lent, if that is allowed

  std::uint64_t inputs_bytes() const { return pieces * std::uint64_t{piece_bytes + overlap_bytes}; }
  std::uint64_t memory_bytes() const { return inputs_bytes() + contents_bytes; }
};

// One thread if there is too little memory or input for more. Where the memory has no limit, it takes
// kDeflateStreamThreadBytes for each thread and once more.
DeflateParallelLimits deflate_parallel_limits(const StreamMeans& means);

class DeflateParallelDecoder : public PieceStream {
 public:
  // `members`: streams are gzip members.
  DeflateParallelDecoder(std::span<const std::byte> history, bool members,
                         const DeflateParallelLimits& limits);
  ~DeflateParallelDecoder() override;
  DeflateParallelDecoder(const DeflateParallelDecoder&) = delete;
  DeflateParallelDecoder& operator=(const DeflateParallelDecoder&) = delete;

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override;
  // Seals no piece that is not full: pieces are of one size, whenever their bytes come.
  StreamStep restore_so_far(std::span<std::byte> output) override;
  bool begin_next(std::span<const std::byte> history) override;
  // For a new decoder: begins between two blocks of a stream. If that is inside a byte, so many of its bits
  // are taken.
  void begin_inside(std::span<const std::byte> window, std::byte first_byte, unsigned taken_bits) {
    serial_.begin(window, first_byte, taken_bits);
  }
  // Points are where the calling thread is between two blocks, and where pieces begin.
  void lend_content() override { lends_ = true; }
  void stop_at_points(bool stops) override;
  std::optional<StreamPoint> point() const override;

  // How much of the content came from pieces, for tests and measurements.
  std::uint64_t linked_bytes() const { return linked_bytes_; }
  // In how many pieces a start was looked for, also for tests.
  std::uint64_t searched_pieces() {
    const std::scoped_lock lock(mutex_);
    return searched_pieces_;
  }

 private:
  struct Piece;
  class Guide;
  using Pieces = std::deque<std::shared_ptr<Piece>>;
  enum class Mode {
    kAlone,     // nothing is read ahead
    kSerial,    // the calling thread restores
    kBoundary,  // between two blocks, it looks for a piece that fits
    kPiece,     // it hands over a piece
    kEnded,
  };
  struct Task {
    std::shared_ptr<Piece> piece;
    bool resolves = false;
  };

  std::size_t take(std::span<const std::byte> input);
  std::size_t content_share() const;
  void fit_pieces();
  void seal(Piece& piece);
  void seal_all();
  void produce(StreamStep& step, std::span<std::byte> output, bool waits, bool is_filled);
  bool restore_serially(StreamStep& step, std::span<std::byte> output);
  bool look_for_piece(bool waits);
  bool hand_over(StreamStep& step, std::span<std::byte> output, bool waits);
  void leave_part();
  void go_on_at(StreamLink link);
  void go_on_serially();
  void end_stream(StreamStep& step, std::uint64_t next_byte);
  void release(std::uint64_t before_byte);
  std::span<const std::byte> kept_from(std::uint64_t byte) const override;
  std::uint64_t key_at(std::uint64_t bits) const;
  std::int64_t next_start(std::uint64_t from_bits);

  void work();
  Task next_task(bool helps);
  std::uint64_t run_goes_on_at() const;
  void run(const Task& task, DeflatePieceDecoder& decoder, std::unique_lock<std::mutex>& lock);
  static std::optional<std::uint64_t> find_start(const Piece& piece, std::uint64_t from_bits);
  void restore_piece(Piece& piece, DeflatePieceDecoder& decoder);
  void link();
  template <class Condition>
  void wait_until(std::unique_lock<std::mutex>& lock, const Condition& condition);

  const DeflateParallelLimits limits_;
  const bool members_;
  const std::shared_ptr<ContentPool> contents_;

  // Only for the calling thread.
  Mode mode_ = Mode::kAlone;
  std::uint64_t alone_bytes_ = 0;
  std::uint64_t content_bytes_ = 0;                   // restored up to `position_`
  std::uint64_t fitted_at_ = 0, fitted_content_ = 0;  // both, when these were chosen:
  std::size_t full_bytes_, expected_bytes_ = 0;  // of the next pieces, and of the memory for their content
  std::uint64_t linked_bytes_ = 0;
  bool lends_ = false, stops_at_points_ = false, at_new_point_ = false;
  DeflateDecoder serial_;
  std::unique_ptr<DeflatePieceDecoder> own_decoder_;
  StreamLink boundary_;             // for kBoundary
  std::shared_ptr<Piece> current_;  // for kPiece
  std::size_t part_ = 0, part_at_ = 0;

  // Guarded by mutex_.
  Pieces pieces_;
  std::vector<LargeBuffer> idle_inputs_;
  std::uint64_t reached_byte_ = 0;
  std::uint64_t run_begin_byte_ = 0,
                run_end_byte_ = 0;  // with two threads: the pieces that the other one restored last
  unsigned useless_pieces_ = 0;     // since the last one that was linked
  std::uint64_t searched_pieces_ = 0;
  bool meets_no_starts_ =
      false;  // whether the calling thread would meet no starts where it is; then others look for none
  // The end of the last linked piece, or of the calling thread's work: the next link.
  bool links_ = false;
  std::uint64_t link_key_ = 0;
  std::vector<std::byte> link_window_;
  std::shared_ptr<Piece> linked_last_;
};

}  // namespace hemstitch
