// A device for pieces of a frame of Zstandard that the processor plays, with whatever trouble devices make: for ZstdDeviceDecoder.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/status.hpp"
#include "format/zstd/stream/zstd_device_decoder.hpp"
#include "format/zstd/stream/zstd_symbols.hpp"
#include "format/zstd/stream/zstd_words.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// What goes wrong, by the number of the call, from 1.
struct ZstdDeviceTrouble {
  std::set<unsigned> uploads = {}, decodes = {}, places = {}, polls = {}, results = {}, resolves = {},
                     downloads = {}, waits = {};  // that fail
  std::set<unsigned> doubts = {};                 // results that end before the last block, in doubt
  std::set<unsigned> nonsense = {};               // results that say what cannot be
  std::size_t most_blocks = SIZE_MAX;             // that a call has room for
  unsigned lost_from_result = 0;                  // all calls fail from then on
};

// Decodes and places with the twins when the result is waited for, and lets content come down when that is waited for.
class ProcessorZstdPieces : public ZstdPieceDevice {
 public:
  ProcessorZstdPieces(std::uint64_t window_bytes, const ZstdDeviceLimits& limits, ZstdDeviceTrouble trouble)
      : window_bytes_(window_bytes),
        limits_(limits),
        trouble_(std::move(trouble)),
        inputs_(limits.inputs, Bytes(limits.input_bytes)),
        rooms_(limits.rooms),
        walk_(most_block_bytes()) {}

  void upload(unsigned input, std::size_t at, std::span<const std::byte> bytes) override {
    count(trouble_.uploads, uploads_, "upload");
    must(at + bytes.size() <= inputs_.at(input).size(), "bytes behind an input");
    for (const Decoded& piece : decoded_)
      must(input != piece.work.input, "an upload into what is not placed yet");
    std::copy(bytes.begin(), bytes.end(), inputs_[input].begin() + static_cast<std::ptrdiff_t>(at));
  }
  void decode(const ZstdPieceWork& work) override {
    count(trouble_.decodes, decodes_, "decode");
    must(decoded_.size() < kZstdDecodedPieces, "too many pieces at once");
    must(!work.block_at.empty() && work.block_at.size() <= limits_.blocks, "too many blocks");
    must(work.end <= inputs_.at(work.input).size(), "blocks behind an input");
    decoded_.push_back({work, {work.block_at.begin(), work.block_at.end()}});
  }
  void place(std::size_t history_bytes) override {
    count(trouble_.places, places_, "place");
    must(!is_placing_ && !decoded_.empty(), "nothing to place");
    must(history_bytes == std::min(frame_bytes_, window_bytes_), "not the history that there is");
    history_bytes_ = history_bytes;
    is_placing_ = true;
  }
  bool is_placed() override {
    // Every other time, so that callers go on without it as well.
    return count(trouble_.polls, polls_, "poll") % 2 == 0;
  }
  ZstdPieceRestored placed() override {
    must(is_placing_, "nothing is placed");
    is_placing_ = false;
    if (results_ + 1 == trouble_.lost_from_result) is_lost_ = true;
    const unsigned call = count(trouble_.results, results_, "result");
    ZstdPieceRestored restored = restore_blocks(decoded_.front(), trouble_.doubts.contains(call));
    decoded_.pop_front();
    if (restored.stop != ZstdPieceRestored::Stop::kNone) decoded_.clear();
    if (trouble_.nonsense.contains(call)) restored.content_bytes = limits_.content_bytes + 1;
    return restored;
  }
  void resolve(unsigned number) override {
    count(trouble_.resolves, resolves_, "resolve");
    must(number < rooms_.size() && (!last_room_ || number != *last_room_), "a room that is in use");
    come_down(UINT64_MAX, &number);  // what was in the room goes
    Bytes& room = rooms_[number];
    const std::span<const std::byte> before =
        last_room_ ? std::span<const std::byte>(rooms_.at(*last_room_)) : std::span<const std::byte>();
    must(history_bytes_ <= before.size(), "no history");
    Bytes made(before.end() - static_cast<std::ptrdiff_t>(history_bytes_), before.end());
    made.resize(history_bytes_ + symbols_.size());
    resolve_zstd_symbols(symbols_, std::span(made).first(history_bytes_), made.data() + history_bytes_);
    room = std::move(made);
    frame_bytes_ += symbols_.size();
    last_room_ = number;
  }
  std::uint64_t download(unsigned room, std::size_t at, std::span<std::byte> to) override {
    count(trouble_.downloads, downloads_, "download");
    must(!to.empty() && at + to.size() <= rooms_.at(room).size(), "bytes behind a room");
    const std::scoped_lock lock(mutex_);
    pending_[++number_] = {room, at, to};
    return number_;
  }
  void wait(std::uint64_t download) override {
    try {
      count(trouble_.waits, waits_, "wait");
    } catch (const Error&) {
      const std::scoped_lock lock(mutex_);
      pending_.erase(pending_.begin(), pending_.upper_bound(download));
      throw;
    }
    come_down(download, nullptr);
  }

 private:
  struct Decoded {
    ZstdPieceWork work;
    std::vector<std::uint32_t> block_at;
  };
  struct Pending {
    unsigned room;
    std::size_t at;
    std::span<std::byte> to;
  };

  static void must(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  }
  unsigned count(const std::set<unsigned>& failing, std::atomic<unsigned>& calls, const char* what) {
    const unsigned call = ++calls;
    if (is_lost_) throw Error(Status::kDeviceLost, "injected: lost");
    if (failing.contains(call)) throw Error(Status::kDeviceFault, std::string("injected: ") + what);
    return call;
  }
  std::size_t most_block_bytes() const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes_, kZstdMostBlockBytes));
  }

  ZstdPieceRestored restore_blocks(const Decoded& piece, bool ends_in_doubt) {
    // Around data, decoders may read.
    Bytes padded(kZstdReadBeyond);
    const ZstdPieceWork& work = piece.work;
    const Bytes& input = inputs_[work.input];
    padded.insert(padded.end(), input.begin(), input.begin() + static_cast<std::ptrdiff_t>(work.end));
    padded.resize(padded.size() + kZstdReadBeyond);
    const auto data = std::span<const std::byte>(padded).subspan(kZstdReadBeyond, work.end);
    using Stop = ZstdPieceRestored::Stop;
    ZstdPieceRestored restored;
    symbols_.clear();
    restored.repeats = offsets_.offsets;
    for (std::size_t i = 0; i < piece.block_at.size(); ++i) {
      restored.stop = i + 1 == piece.block_at.size() && ends_in_doubt ? Stop::kDoubt
                      : i == trouble_.most_blocks                     ? Stop::kRoom
                                                                      : add_block(piece, data, i);
      if (restored.stop != Stop::kNone) break;
      ++restored.blocks;
      restored.content_bytes = symbols_.size();
      restored.repeats = offsets_.offsets;
    }
    return restored;
  }
  ZstdPieceRestored::Stop add_block(const Decoded& piece, std::span<const std::byte> data,
                                    std::size_t number) {
    using Stop = ZstdPieceRestored::Stop;
    const std::vector<std::uint32_t>& block_at = piece.block_at;
    const auto at = data.subspan(block_at[number]);
    const ZstdBlockHeader header = read_zstd_block_header(at.data());
    const std::size_t bytes = kZstdBlockHeaderBytes + header.data_bytes();
    const bool is_end = number + 1 == block_at.size();
    must(block_at[number] + bytes == (is_end ? piece.work.end : block_at[number + 1]), "not a block");
    must(is_end || !header.last, "blocks behind the last one");
    const ZstdWalkedBlock block = walk_.walk(header, at.subspan(kZstdBlockHeaderBytes, header.data_bytes()));
    Bytes literals(std::min(block.literals.count, kZstdMostBlockBytes) + kZstdReadBeyond);
    std::vector<ZstdShortSequence> sequences(std::min(block.sequences, kZstdMostSequences) +
                                             kZstdSplitSequences);
    const ZstdDecodedBlock decoded =
        decoder_.decode(block, most_block_bytes(), literals.data(), sequences.data());
    if (decoded.damaged) return Stop::kDoubt;
    ZstdOffsets after;
    for (std::size_t i = 0; i < after.offsets.size(); ++i) {
      const std::int64_t offset = offsets_.resolved(decoded.offsets.offsets[i]);
      if (offset <= 0) return Stop::kDoubt;
      after.offsets[i] = static_cast<std::uint32_t>(offset);
    }
    const std::size_t begin = symbols_.size();
    if (begin + decoded.content_bytes > limits_.content_bytes) return Stop::kRoom;
    symbols_.resize(begin + decoded.content_bytes);
    if (!copy_zstd_symbols(decoded, header.type, offsets_, static_cast<std::uint32_t>(history_bytes_ + begin),
                           window_bytes_, symbols_.data() + begin)) {
      symbols_.resize(begin);
      return Stop::kDoubt;
    }
    offsets_ = after;
    return Stop::kNone;
  }

  // Those up to a number, of one room or of all.
  void come_down(std::uint64_t number, const unsigned* room) {
    const std::scoped_lock lock(mutex_);
    for (auto i = pending_.begin(); i != pending_.end() && i->first <= number;) {
      const Pending& pending = i->second;
      if (room != nullptr && pending.room != *room) {
        ++i;
        continue;
      }
      std::copy_n(rooms_[pending.room].begin() + static_cast<std::ptrdiff_t>(pending.at), pending.to.size(),
                  pending.to.begin());
      i = pending_.erase(i);
    }
  }

  const std::uint64_t window_bytes_;
  const ZstdDeviceLimits limits_;
  const ZstdDeviceTrouble trouble_;
  std::vector<Bytes> inputs_, rooms_;
  std::deque<Decoded> decoded_;  // of which the first one is placed next
  bool is_placing_ = false;
  std::size_t history_bytes_ = 0;
  std::optional<unsigned> last_room_;
  std::uint64_t frame_bytes_ = 0;
  ZstdWalk walk_;
  ZstdBlockDecoder decoder_;
  ZstdOffsets offsets_;
  std::vector<std::uint32_t> symbols_;
  std::atomic<unsigned> uploads_ = 0, decodes_ = 0, places_ = 0, polls_ = 0, results_ = 0, resolves_ = 0,
                        downloads_ = 0, waits_ = 0;
  std::atomic<bool> is_lost_ = false;
  std::mutex mutex_;
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t number_ = 0;
};

}  // namespace hemstitch::testing
