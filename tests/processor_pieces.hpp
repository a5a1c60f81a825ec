// A device for pieces of a stream that the processor plays, with whatever trouble devices make: for DeflateDeviceDecoder.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/status.hpp"
#include "format/checksum.hpp"
#include "format/deflate/frame/deflate_head.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "format/deflate/stream/deflate_device_decoder.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// What goes wrong, by the number of the call, from 1.
struct DeviceTrouble {
  std::set<unsigned> uploads = {}, carries = {}, restores = {}, downloads = {}, waits = {};  // that fail
  std::set<unsigned> preparations = {};                                                      // that fail
  std::set<unsigned> nothing = {};     // restores that confirm nothing
  std::set<unsigned> nonsense = {};    // restores that say what cannot be
  unsigned lost_from_restore = 0;      // all calls fail after it
  std::size_t most_blocks = SIZE_MAX;  // that a call restores
  std::chrono::milliseconds preparation_time{0};
  bool follows_members = true;
};

// A device on the processor: restores block after block, and lets content come down when it is waited for.
class ProcessorPieces : public DeflatePieceDevice {
 public:
  ProcessorPieces(const DeflateDeviceLimits& limits, DeviceTrouble trouble)
      : limits_(limits),
        trouble_(std::move(trouble)),
        inputs_(limits.inputs),
        outputs_(limits.outputs),
        rooms_(limits.rooms) {
    for (Bytes& input : inputs_) input.resize(limits.lead_bytes + limits.piece_bytes);
  }

  void upload(unsigned input, std::size_t at, std::span<const std::byte> bytes) override {
    fail(trouble_.uploads, uploads_, "upload");
    must(at + bytes.size() <= inputs_.at(input).size(), "bytes behind an input");
    std::copy(bytes.begin(), bytes.end(), inputs_.at(input).begin() + static_cast<std::ptrdiff_t>(at));
  }
  void carry(unsigned from, std::size_t from_at, std::size_t bytes, unsigned to, unsigned room) override {
    fail(trouble_.carries, carries_, "carry");
    must(room < rooms_.size(), "a room that is none");
    must(bytes <= limits_.lead_bytes && from != to, "bytes that cannot be carried");
    std::copy_n(inputs_.at(from).begin() + static_cast<std::ptrdiff_t>(from_at), bytes,
                inputs_.at(to).begin() + static_cast<std::ptrdiff_t>(limits_.lead_bytes - bytes));
  }

  // Keeps the bytes: what is restored is what they were then.
  void prepare(const DeflatePieceToPrepare& work) override {
    fail(trouble_.preparations, preparations_, "prepare");
    std::this_thread::sleep_for(trouble_.preparation_time);
    must(work.begin <= work.end && work.end <= inputs_.at(work.input).size(), "no bytes of an input");
    Room& room = rooms_.at(work.room);
    const Bytes& input = inputs_.at(work.input);
    room.begin = work.begin;
    room.end = work.end;
    room.input = work.input;
    room.bytes.assign(input.begin() + static_cast<std::ptrdiff_t>(work.begin),
                      input.begin() + static_cast<std::ptrdiff_t>(work.end));
  }

  DeflatePieceRestored restore(const DeflatePieceWork& work) override {
    const unsigned call = fail(trouble_.restores, restores_, "restore");
    if (trouble_.lost_from_restore != 0 && call >= trouble_.lost_from_restore) is_lost_ = true;
    fail_if_lost();
    come_down(UINT64_MAX, work.output);  // what stood there is needed no more
    DeflatePieceRestored found;
    found.end_bits = work.begin_bits;
    if (trouble_.nothing.contains(call)) return found;
    if (trouble_.nonsense.contains(call)) {
      found.end_bits = work.end * std::uint64_t{8} + 1;
      return found;
    }
    Bytes& content = outputs_.at(work.output);
    content.resize(limits_.content_bytes);
    Bytes prepared;
    std::span<const std::byte> input = std::span(inputs_.at(work.input)).first(work.end);
    Room& room = rooms_.at(work.room);
    if (work.prepared) {
      must(room.input == work.input && room.end == work.end &&
               work.begin_bits >= room.begin * std::uint64_t{8},
           "a room in which another piece was prepared");
      prepared.resize(room.begin);
      prepared.insert(prepared.end(), room.bytes.begin(), room.bytes.end());
      input = prepared;
      ++prepared_;
    }
    room = {};
    std::uint64_t bits = work.begin_bits, content_at = 0, member_at = 0;
    DeflateDecoder decoder({});
    decoder.begin(work.window, input[bits / 8], static_cast<unsigned>(bits % 8));
    std::size_t taken = static_cast<std::size_t>((bits + 7) / 8);
    for (std::size_t block = 0; block < trouble_.most_blocks; ++block) {
      const auto left = input.subspan(taken);
      const StreamStep step =
          decoder.restore_until(static_cast<std::int64_t>(bits) + 1 - static_cast<std::int64_t>(taken * 8),
                                left, std::span(content).subspan(content_at));
      taken += step.input_bytes;
      if (step.status != Status::kOk || (!step.ended && !decoder.is_between_blocks())) break;
      const std::uint64_t behind = taken * 8 - (step.ended ? 0 : decoder.unread_bits());
      if (behind == bits) break;  // the next header is not there
      bits = behind;
      content_at += step.output_bytes;
      found.end_bits = bits;
      found.content_bytes = content_at;
      if (!step.ended) continue;
      found.ended = true;
      const std::size_t trailer = taken + kGzipTrailerBytes;
      if (!work.members || !trouble_.follows_members || trailer >= input.size()) break;
      const DeflateHead head = read_gzip_head(input.data() + trailer, input.size() - trailer);
      if (head.status != Status::kOk || trailer + head.bytes >= input.size()) break;
      found.members.push_back(
          {bits, content_at, (trailer + head.bytes) * 8,
           checksum_of(Checksum::kCrc32, std::span(content).subspan(member_at, content_at - member_at))});
      member_at = content_at;
      taken = trailer + head.bytes;
      found.end_bits = bits = taken * 8;
      found.ended = false;
      decoder.begin({}, std::byte{0}, 0);
    }
    const auto last = std::span(content).subspan(member_at, found.content_bytes - member_at);
    found.crc32 = checksum_of(Checksum::kCrc32, last);
    const auto tail = last.last(std::min<std::size_t>(last.size(), kDeflateWindowBytes));
    found.last_bytes.assign(tail.begin(), tail.end());
    return found;
  }

  // How often that was used.
  unsigned restored_as_prepared() const { return prepared_; }

  std::uint64_t download(unsigned output, std::uint64_t at, std::span<std::byte> to) override {
    fail(trouble_.downloads, downloads_, "download");
    const std::scoped_lock lock(mutex_);
    pending_[++number_] = {output, at, to};
    return number_;
  }
  void wait(std::uint64_t download) override {
    try {
      fail(trouble_.waits, waits_, "wait");
    } catch (const Error&) {
      const std::scoped_lock lock(mutex_);
      pending_.erase(pending_.begin(), pending_.upper_bound(download));
      throw;
    }
    come_down(download, UINT_MAX);
  }

 private:
  struct Room {
    unsigned input = UINT_MAX;
    std::size_t begin = 0, end = 0;
    Bytes bytes = {};
  };

  static void must(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  }
  struct Pending {
    unsigned output;
    std::uint64_t at;
    std::span<std::byte> to;
  };

  void fail_if_lost() const {
    if (is_lost_) throw Error(Status::kDeviceLost, "injected: lost");
  }
  unsigned fail(const std::set<unsigned>& calls, std::atomic<unsigned>& count, const char* what) {
    const unsigned call = ++count;
    fail_if_lost();
    if (calls.contains(call)) throw Error(Status::kDeviceFault, std::string("injected: ") + what);
    return call;
  }
  // Those up to a number, of one output or of all.
  void come_down(std::uint64_t number, unsigned output) {
    const std::scoped_lock lock(mutex_);
    for (auto i = pending_.begin(); i != pending_.end() && i->first <= number;) {
      const Pending& pending = i->second;
      if (output != UINT_MAX && pending.output != output) {
        ++i;
        continue;
      }
      std::copy_n(outputs_[pending.output].begin() + static_cast<std::ptrdiff_t>(pending.at),
                  pending.to.size(), pending.to.begin());
      i = pending_.erase(i);
    }
  }

  const DeflateDeviceLimits limits_;
  const DeviceTrouble trouble_;
  std::vector<Bytes> inputs_, outputs_;
  std::vector<Room> rooms_;
  std::atomic<unsigned> uploads_ = 0, carries_ = 0, preparations_ = 0, restores_ = 0, downloads_ = 0,
                        waits_ = 0, prepared_ = 0;
  std::atomic<bool> is_lost_ = false;
  std::mutex mutex_;
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t number_ = 0;
};

}  // namespace hemstitch::testing
