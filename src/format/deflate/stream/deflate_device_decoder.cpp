#include "format/deflate/stream/deflate_device_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "format/checksum.hpp"

namespace hemstitch {
namespace {

// If a device confirms less than one in so many of a piece's bytes, and fills less than half of the output,
// it is slower than the processor.
constexpr std::uint64_t kLeastConfirmed = 8;

constexpr std::uint64_t kAll = UINT64_MAX;

// The window after `last`; `window` is the one before it.
std::vector<std::byte> window_behind(std::span<const std::byte> window, std::span<const std::byte> last) {
  const std::size_t kept =
      std::min(window.size(), kDeflateWindowBytes - std::min<std::size_t>(last.size(), kDeflateWindowBytes));
  std::vector<std::byte> behind(window.end() - static_cast<std::ptrdiff_t>(kept), window.end());
  behind.insert(behind.end(), last.begin(), last.end());
  return behind;
}

// Whether the result is consistent: a failing device may report anything.
bool adds_up(const DeflatePieceRestored& restored, const DeflatePieceWork& work, std::uint64_t room) {
  std::uint64_t bits = work.begin_bits, content = 0;
  for (const DeflatePieceMember& member : restored.members) {
    if (member.end_bits < bits || member.next_begin_bits <= member.end_bits || member.content_end < content)
      return false;
    bits = member.next_begin_bits;
    content = member.content_end;
  }
  return restored.end_bits >= bits && restored.end_bits <= work.end * std::uint64_t{8} &&
         restored.content_bytes >= content && restored.content_bytes <= room &&
         restored.last_bytes.size() ==
             std::min<std::uint64_t>(restored.content_bytes - content, kDeflateWindowBytes);
}

}  // namespace

std::optional<DeflateDeviceLimits> deflate_device_limits(
    const StreamMeans& means, std::uint64_t device_limit_bytes,
    const std::function<std::uint64_t(const DeflateDeviceLimits&)>& device_bytes) {
  // Only the processor's decoders report the points inside a stream.
  if (means.points) return std::nullopt;
  DeflateDeviceLimits limits;
  if (means.input_bytes) {
    if (*means.input_bytes < kDeflateDeviceLeastBytes) return std::nullopt;
    // Several pieces, so that one is read and another written while one is restored.
    const std::uint64_t several = *means.input_bytes / (limits.inputs + 1) + 1;
    while (limits.piece_bytes / 2 >= several) limits.piece_bytes /= 2;
  } else {
    limits.begin_bytes = kDeflateDeviceLeastBytes;
  }
  for (; limits.piece_bytes >= kDeflateDeviceLeastPieceBytes; limits.piece_bytes /= 2) {
    limits.first_piece_bytes = std::min(limits.piece_bytes, kDeflateDeviceFirstPieceBytes);
    limits.lead_bytes = std::min(limits.piece_bytes / 2, kDeflateDeviceLeadBytes);
    limits.content_bytes = limits.piece_bytes * kDeflateDeviceContentFactor;
    if ((means.memory_bytes == 0 || limits.memory_bytes() <= means.memory_bytes) &&
        (device_limit_bytes == 0 || device_bytes(limits) <= device_limit_bytes)) {
      StreamMeans rest = means;
      rest.loans = 0;
      if (rest.memory_bytes != 0)
        rest.memory_bytes = std::max<std::uint64_t>(rest.memory_bytes - limits.memory_bytes(), 1);
      limits.processor = deflate_parallel_limits(rest);
      return limits;
    }
  }
  return std::nullopt;
}

struct DeflateDeviceDecoder::Piece : StreamPiece {
  std::size_t most_bytes = 0;

  // Guarded by the decoder's mutex.
  bool sealed = false;         // complete
  bool is_on_device = true;    // all of it was sent to the device
  bool is_passed = false;      // the device needs none of it any more
  std::size_t lead_bytes = 0;  // how many carried bytes precede it on the device
  unsigned users = 0;          // threads for which the device reads it
  enum class Preparation { kNone, kUnderWay, kDone, kOver } preparation = Preparation::kNone;
  unsigned room = 0;  // of the device, where it is prepared
};

// What the device restored, from a link on.
struct DeflateDeviceDecoder::Restored {
  // The content of one stream.
  struct Part {
    std::uint64_t begin_bits = 0, end_bits = 0;  // in the whole input
    std::uint64_t content_at = 0, content_bytes = 0;
    bool final = false;
    std::uint32_t crc32 = 0;
  };
  std::vector<Part> parts;
  std::vector<std::byte> window;  // the content before the first part
  unsigned output = 0;
  bool is_much = false;
  std::vector<std::shared_ptr<Piece>> pieces;  // the pieces that it was restored from

  std::span<const std::byte> from(std::uint64_t byte) const {
    const Piece* const piece = piece_with(pieces, byte);
    return piece == nullptr ? std::span<const std::byte>() : piece->from(byte);
  }
};

// Restores content a second time, in order.
struct DeflateDeviceDecoder::Redone {
  std::shared_ptr<Restored> restored;
  std::size_t part = 0;
  std::uint64_t part_at = 0;
  std::uint64_t position = 0;
  DeflateDecoder decoder{{}};

  // Fills `to` with the next content.
  void restore(std::span<std::byte> to) {
    while (!to.empty()) {
      const auto input = restored->from(position);
      const StreamStep step = decoder.restore(input, to);
      position += step.input_bytes;
      part_at += step.output_bytes;
      to = to.subspan(step.output_bytes);
      if (!to.empty() &&
          (step.status != Status::kOk || step.ended || (step.input_bytes == 0 && step.output_bytes == 0)))
        throw Error(Status::kInternal, "what a device restored is not in the stream");
    }
  }
};

DeflateDeviceDecoder::DeflateDeviceDecoder(std::unique_ptr<DeflatePieceDevice> device,
                                           std::span<const std::byte> history, bool members,
                                           const StreamMeans& means, const DeflateDeviceLimits& limits)
    : device_(std::move(device)),
      members_(members),
      settles_(means.settles),
      on_failure_(means.on_failure),
      limits_(limits),
      serial_(history),
      serial_bytes_(limits.serial_bytes),
      next_piece_bytes_(std::min(limits.first_piece_bytes, limits.piece_bytes)) {
  for (unsigned output = 0; output < limits_.outputs; ++output) idle_outputs_.push_back(output);
  for (unsigned room = 0; room < limits_.rooms; ++room) idle_rooms_.push_back(room);
  if (limits_.begin_bytes != 0) return;
  link_ = StreamLink{0, {serial_.window().begin(), serial_.window().end()}};
  mode_ = Mode::kBoundary;
}

DeflateDeviceDecoder::~DeflateDeviceDecoder() { stop_threads(); }

// ---- Calling thread ----

StreamStep DeflateDeviceDecoder::restore(std::span<const std::byte> input, std::span<std::byte> output) {
  if (mode_ == Mode::kAlone) {
    StreamStep step = serial_.restore(input, output);
    taken_bytes_ = position_ += step.input_bytes;
    sum_up(output.first(step.output_bytes));
    if (step.ended) {
      mode_ = Mode::kEnded;
    } else if (taken_bytes_ >= limits_.begin_bytes && step.status == Status::kOk) {
      mode_ = Mode::kSerial;
      in_serial_way_ = true;
      serial_until_ = position_ + 1;  // from here on the bytes are kept, so a link can be inside them
    }
    return step;
  }
  StreamStep step;
  const auto goes_on = [&] {
    return step.input_bytes == 0 && step.output_bytes == 0 && !step.ended && step.status == Status::kOk;
  };
  // If the caller gives no input although there is room, there is no more.
  const bool is_end = input.empty() && piece_to_fill() != nullptr;
  if (is_end) {
    const std::scoped_lock lock(mutex_);
    no_more_ = true;
    if (pieces_.back()->own_bytes != 0) seal(*pieces_.back());
    work_comes_.notify_all();  // threads that waited for more continue without it
  }
  const auto was_held_up = [&] { return !is_end && piece_to_fill() == nullptr && wait_for_held_piece(); };
  do {
    step.input_bytes += take(input.subspan(step.input_bytes));
    produce(step, output, input.empty() || step.input_bytes < input.size());
  } while (goes_on() && (was_held_up() || !input.empty()));
  step.wants_input = goes_on() && !is_end && piece_to_fill() != nullptr;
  return step;
}

std::optional<std::span<std::byte>> DeflateDeviceDecoder::input_room() {
  if (mode_ == Mode::kAlone) return std::nullopt;
  Piece* const piece = piece_to_fill();
  if (piece == nullptr) return std::span<std::byte>();
  return std::span(piece->memory.get() + piece->own_bytes,
                   std::min(limits_.gather_bytes, piece->most_bytes - piece->own_bytes));
}

// A piece that was passed makes room for more input only once no thread of the device uses it. Waits for such
// a thread; false if there is none, and no room. The last one may have ended since its caller looked.
bool DeflateDeviceDecoder::wait_for_held_piece() {
  bool is_held = false;
  {
    std::unique_lock lock(mutex_);
    is_held = std::ranges::any_of(pieces_, [](const auto& piece) { return piece->users != 0; });
    if (is_held) work_is_done_.wait(lock);
  }
  release(0);
  return is_held || piece_to_fill() != nullptr;
}

// Takes as much input as there is room for; returns how much.
std::size_t DeflateDeviceDecoder::take(std::span<const std::byte> input) {
  std::size_t taken = 0;
  while (taken < input.size()) {
    Piece* const piece = piece_to_fill();
    if (piece == nullptr) break;
    std::byte* const at = piece->memory.get() + piece->own_bytes;
    const auto some =
        input.subspan(taken, std::min(input.size() - taken, piece->most_bytes - piece->own_bytes));
    if (some.data() != at) std::memcpy(at, some.data(), some.size());
    bool is_sent = false;
    if (piece->is_on_device && !failures_.is_dropped()) {
      try {
        device_->upload(input_of(*piece), limits_.lead_bytes + piece->own_bytes, {at, some.size()});
        is_sent = true;
      } catch (const Error& error) {
        if (!is_device_failure(error)) throw;
        fail(error.what());
      }
    }
    taken += some.size();
    taken_bytes_ += some.size();
    const std::scoped_lock lock(mutex_);
    no_more_ = false;
    piece->own_bytes += some.size();
    piece->is_on_device = is_sent;
    if (piece->own_bytes == piece->most_bytes) seal(*piece);
  }
  return taken;
}

// Call it with the mutex held. Whether the device has an input for another piece.
bool DeflateDeviceDecoder::has_input_for_piece() const {
  if (failures_.is_dropped()) return true;
  return std::ranges::none_of(pieces_, [&](const auto& piece) {
    return piece->number + limits_.inputs <= piece_count_ && !piece->is_passed;
  });
}

// The last piece if it is not full, or a new one; null if there is no room for one.
DeflateDeviceDecoder::Piece* DeflateDeviceDecoder::piece_to_fill() {
  {
    const std::scoped_lock lock(mutex_);
    if (!pieces_.empty() && !pieces_.back()->sealed) return pieces_.back().get();
    if (!has_input_for_piece()) return nullptr;
  }
  auto memory = memory_for_piece();
  if (!memory) return nullptr;
  start_threads();
  auto piece = std::make_shared<Piece>();
  piece->number = piece_count_++;
  piece->begin = taken_bytes_;
  piece->most_bytes = next_piece_bytes_;
  piece->memory = std::move(*memory);
  next_piece_bytes_ = std::min(2 * next_piece_bytes_, limits_.piece_bytes);
  const std::scoped_lock lock(mutex_);
  pieces_.push_back(piece);
  return piece.get();
}

std::optional<LargeBuffer> DeflateDeviceDecoder::memory_for_piece() {
  const auto idle = [&]() -> std::optional<LargeBuffer> {
    const std::scoped_lock lock(mutex_);
    const auto unused =
        std::ranges::find_if(passed_, [](const auto& piece) { return piece.use_count() == 1; });
    if (unused == passed_.end()) return std::nullopt;
    LargeBuffer memory = std::move((*unused)->memory);
    passed_.erase(unused);
    return memory;
  };
  if (auto memory = idle()) return memory;
  if (memory_count_ < limits_.host_pieces) {
    LargeBuffer memory = device_->make_host_memory(limits_.piece_bytes);
    ++memory_count_;
    return memory;
  }
  settle(kAll);
  return idle();
}

// Call it with the mutex held.
void DeflateDeviceDecoder::seal(Piece& piece) {
  piece.sealed = true;
  work_comes_.notify_all();
}

// Without threads, the device is not used.
void DeflateDeviceDecoder::start_threads() {
  if (!threads_.empty() || failures_.is_dropped()) return;
  if (PieceStream::start_threads(limits_.rooms, [this] { work(); })) return;
  const std::scoped_lock lock(mutex_);
  failures_.drop();
  if (link_) given_up_ = std::exchange(link_, std::nullopt);
}

// With `waits`, waits for the device if nothing is ready.
void DeflateDeviceDecoder::produce(StreamStep& step, std::span<std::byte> output, bool waits) {
  for (bool goes_on = true; goes_on && step.output_bytes < output.size() && !step.ended;) {
    switch (mode_) {
      case Mode::kSerial:
        goes_on = restore_serially(step, output);
        break;
      case Mode::kBoundary:
        goes_on = current_ ? hand_over(step, output) : take_restored(waits && step.output_bytes == 0);
        break;
      case Mode::kParallel:
        goes_on = restore_in_parallel(step, output, waits && step.output_bytes == 0);
        break;
      case Mode::kAlone:
      case Mode::kEnded:
        return;
    }
  }
}

unsigned DeflateDeviceDecoder::input_of(const Piece& piece) const {
  return static_cast<unsigned>(piece.number % limits_.inputs);
}

std::span<const std::byte> DeflateDeviceDecoder::kept_from(std::uint64_t byte) const {
  const Piece* const piece = piece_with(pieces_, byte);
  return piece == nullptr ? std::span<const std::byte>() : piece->from(byte);
}

void DeflateDeviceDecoder::sum_up(std::span<const std::byte> content) {
  if (members_) crc32_ = checksum_behind(Checksum::kCrc32, crc32_, content);
}

std::optional<std::uint32_t> DeflateDeviceDecoder::content_crc32() const {
  return members_ ? std::optional(crc32_) : std::nullopt;
}

// Returns whether there is more to do at once.
bool DeflateDeviceDecoder::restore_serially(StreamStep& step, std::span<std::byte> output) {
  const auto bits_before = [&] { return position_ * 8 - serial_.unread_bits(); };
  const bool is_dropped = failures_.is_dropped();
  if (is_dropped && serial_.is_between_blocks() && is_for_processor()) {
    const auto window = serial_.window();
    go_on_in_parallel({bits_before(), {window.begin(), window.end()}});
    return true;
  }
  const std::int64_t stop_bits =
      !is_dropped ? (static_cast<std::int64_t>(serial_until_) - static_cast<std::int64_t>(position_)) * 8
      : is_for_processor() ? 1 - static_cast<std::int64_t>(serial_.unread_bits())  // at the next block
                           : INT64_MAX;
  const auto room = output.subspan(step.output_bytes);
  const StreamStep done = serial_.restore_until(stop_bits, kept_from(position_), room);
  sum_up(room.first(done.output_bytes));
  const bool goes_on = add(step, done);
  if (done.status != Status::kOk) return false;
  if (done.ended) {
    end_stream(step, position_);
    return false;
  }
  release(bits_before() / 8);
  if (!is_dropped && serial_.is_between_blocks() && bits_before() >= serial_until_ * 8) {
    const auto window = serial_.window();
    mode_ = Mode::kBoundary;
    in_serial_way_ = false;
    StreamLink link{bits_before(), {window.begin(), window.end()}};
    go_to(link);
    const std::scoped_lock lock(mutex_);
    pass_inputs(link.bits / 8);
    link_ = std::move(link);
    work_comes_.notify_all();
    return true;
  }
  return goes_on;
}

// Takes the next content that the device restored, or continues serially where it gave up.
bool DeflateDeviceDecoder::take_restored(bool waits) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!restored_.empty()) {
      current_ = std::move(restored_.front());
      restored_.pop_front();
      part_ = 0;
      part_at_ = 0;
      if (current_->is_much) serial_bytes_ = limits_.serial_bytes;
      return true;
    }
    if (given_up_) {
      const StreamLink link = *std::exchange(given_up_, std::nullopt);
      lock.unlock();
      go_on_serially(link);
      return true;
    }
    if (!waits || (!restores_ && !next_restoring())) return false;
    work_is_done_.wait(lock);
  }
}

bool DeflateDeviceDecoder::hand_over(StreamStep& step, std::span<std::byte> output) {
  const Restored::Part part = current_->parts[part_];
  const auto count = static_cast<std::size_t>(
      std::min<std::uint64_t>(part.content_bytes - part_at_, output.size() - step.output_bytes));
  if (count != 0) arrive(output.subspan(step.output_bytes, count));
  part_at_ += count;
  step.output_bytes += count;
  device_bytes_ += count;
  if (part_at_ < part.content_bytes) return false;
  if (members_) crc32_ = combined_checksum(Checksum::kCrc32, crc32_, part.crc32, part.content_bytes);
  if (part.final) {
    end_stream(step, (part.end_bits + 7) / 8);
    return false;
  }
  leave_restored();
  position_ = (part.end_bits + 7) / 8;
  release(part.end_bits / 8);
  return true;
}

void DeflateDeviceDecoder::leave_restored() {
  if (!current_) return;
  const std::scoped_lock lock(mutex_);
  idle_outputs_.push_back(current_->output);
  current_ = nullptr;
  work_comes_.notify_all();
}

// Transfers the next content of the current part to `to`.
void DeflateDeviceDecoder::arrive(std::span<std::byte> to) {
  Arrival arrival{.download = 0, .to = to, .restored = current_, .part = part_, .part_at = part_at_};
  if (!failures_.is_dropped()) {
    try {
      arrival.download =
          device_->download(current_->output, current_->parts[part_].content_at + part_at_, to);
    } catch (const Error& error) {
      if (!is_device_failure(error)) throw;
      fail(error.what());
    }
  }
  const std::uint64_t number = arrivals_.add(std::move(arrival));
  if (!settles_) settle(number);
}

void DeflateDeviceDecoder::settle(std::uint64_t number) {
  const auto receive = [&](const Arrival& arrival) {
    bool has_come = false;
    if (arrival.download != 0) {
      try {
        device_->wait(arrival.download);
        has_come = true;
      } catch (const Error& error) {
        if (!is_device_failure(error)) throw;
        fail(error.what());
      }
    }
    if (!has_come) redo(arrival);
  };
  arrivals_.settle(number, receive, [&] { redone_ = nullptr; });
}

void DeflateDeviceDecoder::redo(const Arrival& arrival) {
  if (!redone_ || redone_->restored != arrival.restored || redone_->part != arrival.part ||
      redone_->part_at > arrival.part_at) {
    const std::uint64_t bits = arrival.restored->parts[arrival.part].begin_bits;
    auto redone = std::make_unique<Redone>();
    redone->restored = arrival.restored;
    redone->part = arrival.part;
    redone->position = (bits + 7) / 8;
    const auto taken_bits = static_cast<unsigned>(bits % 8);
    redone->decoder.begin(arrival.part == 0 ? std::span<const std::byte>(arrival.restored->window)
                                            : std::span<const std::byte>(),
                          taken_bits == 0 ? std::byte{0} : arrival.restored->from(bits / 8)[0], taken_bits);
    redone_ = std::move(redone);
  }
  std::vector<std::byte> skipped(std::size_t{1} << 16);
  while (redone_->part_at < arrival.part_at)
    redone_->restore(std::span(skipped).first(static_cast<std::size_t>(
        std::min<std::uint64_t>(skipped.size(), arrival.part_at - redone_->part_at))));
  redone_->restore(arrival.to);
}

// From here on the device is not used for a while, twice as long each time that it helps little.
void DeflateDeviceDecoder::begin_serial_way() {
  mode_ = Mode::kSerial;
  if (std::exchange(in_serial_way_, true)) return;
  serial_until_ = position_ + serial_bytes_;
  if (serial_bytes_ < limits_.piece_bytes) serial_bytes_ *= 2;
}

// Whether the processor has several threads for what the device no longer restores.
bool DeflateDeviceDecoder::is_for_processor() const { return limits_.processor.threads > 1; }

void DeflateDeviceDecoder::go_on_in_parallel(const StreamLink& link) {
  parallel_ =
      std::make_unique<DeflateParallelDecoder>(std::span<const std::byte>(), members_, limits_.processor);
  parallel_->begin_inside(link.window, first_byte(link), link.taken_bits());
  go_to(link);
  mode_ = Mode::kParallel;
}

// Returns whether there is more to do at once.
bool DeflateDeviceDecoder::restore_in_parallel(StreamStep& step, std::span<std::byte> output, bool waits) {
  const auto input = kept_from(position_);
  // Without input, the parallel decoder would conclude that there is no more.
  if (input.empty() && !waits) return false;
  const auto room = output.subspan(step.output_bytes);
  const StreamStep done = parallel_->restore(input, room);
  sum_up(room.first(done.output_bytes));
  const bool goes_on = add(step, done);
  release(position_);
  if (done.ended) {
    end_stream(step, position_);
    return false;
  }
  return goes_on;
}

void DeflateDeviceDecoder::go_on_serially(const StreamLink& link) {
  if (failures_.is_dropped() && is_for_processor()) {
    go_on_in_parallel(link);
    return;
  }
  serial_.begin(link.window, first_byte(link), link.taken_bits());
  go_to(link);
  begin_serial_way();
}

void DeflateDeviceDecoder::end_stream(StreamStep& step, std::uint64_t next_byte) {
  step.ended = true;
  mode_ = Mode::kEnded;
  position_ = next_byte;
}

std::size_t DeflateDeviceDecoder::read_ahead(std::span<std::byte> to) {
  const std::size_t count = parallel_ ? parallel_->read_ahead(to) : 0;
  return count + PieceStream::read_ahead(to.subspan(count));
}

bool DeflateDeviceDecoder::begin_next(std::span<const std::byte> history) {
  crc32_ = 0;
  if (parallel_) {
    mode_ = Mode::kParallel;
    return parallel_->begin_next(history);
  }
  // Is this the next part of the result in which the last stream ended?
  if (current_ && part_ + 1 < current_->parts.size() &&
      current_->parts[part_ + 1].begin_bits == position_ * 8 && history.empty()) {
    ++part_;
    part_at_ = 0;
    mode_ = Mode::kBoundary;
    return true;
  }
  leave_restored();
  {
    // If not, the content that was restored ahead is not needed.
    const std::scoped_lock lock(mutex_);
    ++epoch_;
    link_.reset();
    given_up_.reset();
    for (const auto& restored : restored_) idle_outputs_.push_back(restored->output);
    restored_.clear();
  }
  release(position_);
  serial_.begin(history, std::byte{0}, 0);
  if (position_ == taken_bytes_ && taken_bytes_ < limits_.begin_bytes)
    mode_ = Mode::kAlone;
  else
    begin_serial_way();
  return true;
}

// Call it with the mutex held. The device no longer needs the piece.
void DeflateDeviceDecoder::pass(Piece& piece) {
  piece.is_passed = true;
  if (piece.preparation != Piece::Preparation::kDone) return;
  piece.preparation = Piece::Preparation::kOver;
  idle_rooms_.push_back(piece.room);
}

// Call it with the mutex held. Passes the pieces before a byte, up to the first one that is in use.
void DeflateDeviceDecoder::pass_inputs(std::uint64_t before_byte) {
  passed_bytes_ = std::max(passed_bytes_, before_byte);
  for (const auto& piece : pieces_) {
    if (piece->users != 0) break;
    if (piece->sealed && !piece->is_passed && piece->end() <= passed_bytes_) pass(*piece);
  }
}

// Releases the pieces that are no longer needed.
void DeflateDeviceDecoder::release(std::uint64_t before_byte) {
  const std::scoped_lock lock(mutex_);
  pass_inputs(before_byte);
  released_bytes_ = std::max(released_bytes_, before_byte);
  while (!pieces_.empty() && pieces_.front()->is_passed && pieces_.front()->end() <= released_bytes_) {
    passed_.push_back(std::move(pieces_.front()));
    pieces_.pop_front();
  }
}

// ---- Failures ----

void DeflateDeviceDecoder::fail(const std::string& reason) {
  {
    const std::scoped_lock lock(mutex_);
    failures_.count();
    work_comes_.notify_all();
  }
  if (on_failure_) on_failure_(reason);
}

// ---- Threads of the device ----

void DeflateDeviceDecoder::work() {
  work_until_stopped([this](std::unique_lock<std::mutex>& lock) {
    const auto task = next_task();
    if (!task) return false;
    switch (task->kind) {
      case Task::Kind::kRestore:
        restore(*task, lock);
        break;
      case Task::Kind::kPrepare:
        prepare(*task, lock);
        break;
      case Task::Kind::kGiveUp:
        given_up_ = std::exchange(link_, std::nullopt);
        break;
      case Task::Kind::kWait:
        break;
    }
    work_is_done_.notify_all();
    work_comes_.notify_all();
    return true;
  });
}

// Call it with the mutex held.
std::optional<DeflateDeviceDecoder::Task> DeflateDeviceDecoder::next_task() const {
  if (stops_) return std::nullopt;
  const auto task = next_restoring();
  return task && task->kind != Task::Kind::kWait ? task : next_preparing();
}

// Call it with the mutex held. The task that continues from the link. Nothing if it needs more input, or an
// output.
std::optional<DeflateDeviceDecoder::Task> DeflateDeviceDecoder::next_restoring() const {
  if (!link_) return std::nullopt;
  const Task gives_up{.kind = Task::Kind::kGiveUp};
  if (failures_.is_dropped()) return gives_up;
  const std::uint64_t byte = link_->bits / 8;
  // None of the following bytes has come yet.
  if (pieces_.empty() || byte >= pieces_.back()->end()) return std::nullopt;
  auto at = pieces_.end();
  for (auto i = pieces_.begin(); i != pieces_.end(); ++i)
    if (byte + (*i)->lead_bytes >= (*i)->begin && byte < (*i)->end()) at = i;
  if (at == pieces_.end() || (*at)->is_passed) return gives_up;
  const auto next = std::next(at);
  const std::uint64_t left_bytes = (*at)->end() - byte;
  if (!(*at)->sealed) return std::nullopt;
  Task task;
  if (left_bytes <= limits_.lead_bytes) {
    const bool has_next = next != pieces_.end() && (*next)->own_bytes != 0;
    if (has_next ? !(*next)->sealed : !no_more_) return std::nullopt;
    if (has_next) {
      task.carried = *at;
      task.carried_bytes = static_cast<std::size_t>(left_bytes);
    }
  }
  task.piece = task.carried ? *next : *at;
  if (!task.piece->is_on_device || !(*at)->is_on_device) return gives_up;
  if (idle_outputs_.empty()) return std::nullopt;
  if (task.piece->preparation == Piece::Preparation::kUnderWay) task.kind = Task::Kind::kWait;
  if (task.piece->preparation != Piece::Preparation::kDone && idle_rooms_.empty()) {
    task.gives_room = piece_to_give_room();
    if (!task.gives_room) task.kind = Task::Kind::kWait;
  }
  return task;
}

// The last piece, since it is needed last.
std::shared_ptr<DeflateDeviceDecoder::Piece> DeflateDeviceDecoder::piece_to_give_room() const {
  for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece)
    if ((*piece)->preparation == Piece::Preparation::kDone && (*piece)->users == 0) return *piece;
  return nullptr;
}

// Call it with the mutex held. The first piece that may be worth preparing.
std::optional<DeflateDeviceDecoder::Task> DeflateDeviceDecoder::next_preparing() const {
  if (limits_.rooms == 1 || idle_rooms_.empty() || failures_.is_dropped()) return std::nullopt;
  for (std::size_t i = 1; i < pieces_.size(); ++i) {
    const auto &before = pieces_[i - 1], &piece = pieces_[i];
    if (piece->preparation != Piece::Preparation::kNone || piece->users != 0 || !piece->sealed ||
        piece->is_passed || before->is_passed || !piece->is_on_device || !before->is_on_device)
      continue;
    return Task{.kind = Task::Kind::kPrepare,
                .piece = piece,
                .carried = before,
                .carried_bytes = std::min({limits_.overlap_bytes, limits_.lead_bytes, before->own_bytes})};
  }
  return std::nullopt;
}

// Calls `call`. On an error, passes the reason to fail() and returns it; otherwise returns an empty string.
std::string DeflateDeviceDecoder::failure_of(const std::function<void()>& call) {
  std::string failure;
  try {
    call();
  } catch (const Error& error) {
    failure = error.what();
  } catch (const std::bad_alloc&) {
    failure = status_text(Status::kOutOfMemory);
  }
  if (!failure.empty()) fail(failure);
  return failure;
}

void DeflateDeviceDecoder::prepare(const Task& task, std::unique_lock<std::mutex>& lock) {
  Piece &piece = *task.piece, &before = *task.carried;
  piece.preparation = Piece::Preparation::kUnderWay;
  piece.room = idle_rooms_.back();
  idle_rooms_.pop_back();
  ++piece.users;
  ++before.users;
  lock.unlock();
  const std::size_t begin = limits_.lead_bytes - task.carried_bytes;
  const bool is_done =
      failure_of([&] {
        device_->carry(input_of(before), limits_.lead_bytes + before.own_bytes - task.carried_bytes,
                       task.carried_bytes, input_of(piece), piece.room);
        device_->prepare({.input = input_of(piece),
                          .begin = begin,
                          .end = limits_.lead_bytes + piece.own_bytes,
                          .members = members_,
                          .room = piece.room});
      }).empty();
  lock.lock();
  --piece.users;
  --before.users;
  piece.preparation = is_done ? Piece::Preparation::kDone : Piece::Preparation::kOver;
  if (is_done)
    piece.lead_bytes = task.carried_bytes;
  else
    idle_rooms_.push_back(piece.room);
  pass_inputs(0);  // pieces that others went past meanwhile
}

void DeflateDeviceDecoder::restore(const Task& task, std::unique_lock<std::mutex>& lock) {
  StreamLink link = *std::exchange(link_, std::nullopt);
  Piece& piece = *task.piece;
  const std::uint64_t epoch = epoch_;
  const auto place = [&](const Piece& of) {
    return limits_.lead_bytes + link.bits / 8 - of.begin;  // of the link, which may be before the piece
  };
  const unsigned output = idle_outputs_.back();
  idle_outputs_.pop_back();
  if (task.gives_room) {
    task.gives_room->preparation = Piece::Preparation::kOver;
    idle_rooms_.push_back(task.gives_room->room);
  }
  const bool has_room = piece.preparation == Piece::Preparation::kDone, prepared = has_room && !task.carried;
  if (!has_room) {
    piece.room = idle_rooms_.back();
    idle_rooms_.pop_back();
  }
  piece.preparation = Piece::Preparation::kOver;
  ++piece.users;
  if (task.carried) ++task.carried->users;
  // Pieces that end before the link, or whose last bytes were carried, are not needed on the device any more.
  for (const auto& before : pieces_)
    if (before->end() <= std::max(piece.begin, link.bits / 8) && before->sealed && !before->is_passed &&
        before->users == 0)
      pass(*before);
  restores_ = true;
  lock.unlock();
  DeflatePieceRestored restored;
  const std::string failure = failure_of([&] {
    if (task.carried)
      device_->carry(input_of(*task.carried), place(*task.carried), task.carried_bytes, input_of(piece),
                     piece.room);
    const DeflatePieceWork work{.input = input_of(piece),
                                .begin_bits = place(piece) * 8 + link.bits % 8,
                                .end = limits_.lead_bytes + piece.own_bytes,
                                .window = link.window,
                                .members = members_,
                                .output = output,
                                .room = piece.room,
                                .prepared = prepared};
    restored = device_->restore(work);
    if (!adds_up(restored, work, limits_.content_bytes))
      throw Error(Status::kDeviceFault, "what was restored of a stream does not add up");
  });
  lock.lock();
  restores_ = false;
  idle_rooms_.push_back(piece.room);
  --piece.users;
  if (task.carried) --task.carried->users;
  if (task.carried && failure.empty()) {
    piece.lead_bytes = task.carried_bytes;
    if (task.carried->users == 0) pass(*task.carried);
  }
  pass_inputs(0);
  if (epoch == epoch_ && failure.empty()) {
    publish(piece, output, std::move(link), std::move(restored));
    return;
  }
  idle_outputs_.push_back(output);
  if (epoch == epoch_) given_up_ = std::move(link);
}

// Call it with the mutex held.
void DeflateDeviceDecoder::publish(const Piece& piece, unsigned output, StreamLink link,
                                   DeflatePieceRestored found) {
  const auto bits_of = [&](std::uint64_t input_bits) {
    return piece.begin * 8 + input_bits - limits_.lead_bytes * std::uint64_t{8};
  };
  const std::uint64_t end_bits = bits_of(found.end_bits);
  if (end_bits == link.bits && found.members.empty() && !found.ended) {
    idle_outputs_.push_back(output);
    given_up_ = std::move(link);
    return;
  }
  auto restored = std::make_shared<Restored>();
  Restored::Part part{.begin_bits = link.bits};
  for (const DeflatePieceMember& member : found.members) {
    part.end_bits = bits_of(member.end_bits);
    part.content_bytes = member.content_end - part.content_at;
    part.final = true;
    part.crc32 = member.crc32;
    restored->parts.push_back(part);
    part = {.begin_bits = bits_of(member.next_begin_bits), .content_at = member.content_end};
  }
  part.end_bits = end_bits;
  part.content_bytes = found.content_bytes - part.content_at;
  part.final = found.ended;
  part.crc32 = found.crc32;
  restored->parts.push_back(part);
  restored->output = output;
  for (const auto& other : pieces_)
    if (other->end() > link.bits / 8 && other->begin < piece.end()) restored->pieces.push_back(other);
  restored->is_much = found.ended || found.content_bytes >= limits_.content_bytes / 2 ||
                      (end_bits - link.bits) * kLeastConfirmed >= piece.end() * 8 - link.bits;
  StreamLink next{end_bits, window_behind(found.members.empty() ? std::span<const std::byte>(link.window)
                                                                : std::span<const std::byte>(),
                                          found.last_bytes)};
  restored->window = std::move(link.window);
  restored_.push_back(restored);
  if (found.ended) return;
  if (restored->is_much) {
    link_ = std::move(next);
    pass_inputs(end_bits / 8);
  } else {
    given_up_ = std::move(next);
  }
}

}  // namespace hemstitch
