#include "format/deflate/stream/deflate_parallel_decoder.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "format/deflate/stream/deflate_finder.hpp"
#include "format/deflate/stream/deflate_markers.hpp"

namespace hemstitch {
namespace {

constexpr std::int64_t kNever = INT64_MAX;
// A piece is not searched before the next one has come. If there are two threads, one of them searches only
// pieces that are far enough ahead.
constexpr std::uint64_t kLeastPieces = 3, kLeastSharedPieces = 5;
// If what was found is not the beginning of a block, the piece is searched again, up to so many times.
constexpr unsigned kMostStarts = 8;

}  // namespace

DeflateParallelLimits deflate_parallel_limits(const StreamMeans& means) {
  DeflateParallelLimits limits;
  const std::uint64_t most_pieces =
      means.input_bytes ? *means.input_bytes / kDeflateStreamPieceBytes : UINT64_MAX;
  const auto fits = [&](unsigned threads, std::size_t piece_bytes) {
    const bool shares = threads == 2;
    if (most_pieces < (shares ? kLeastSharedPieces : kLeastPieces)) return false;
    limits.threads = static_cast<unsigned>(std::min<std::uint64_t>(threads, most_pieces));
    limits.piece_bytes = piece_bytes;
    // One piece for each thread that restores, and some that wait until their content is passed on.
    const std::uint64_t pieces = shares ? kDeflateStreamSharedPieces : threads + threads / 2 + 2;
    limits.pieces = static_cast<std::size_t>(
        means.input_bytes ? std::min(pieces, *means.input_bytes / piece_bytes) : pieces);
    const std::uint64_t bytes =
        means.memory_bytes != 0 ? means.memory_bytes : (threads + 1) * kDeflateStreamThreadBytes;
    limits.contents_bytes = std::min((limits.pieces + means.loans) * std::uint64_t{limits.content_bytes},
                                     bytes - std::min(bytes, limits.inputs_bytes()));
    return limits.contents_bytes >= (limits.threads + 1) * piece_bytes * kDeflateStreamLeastContentFactor;
  };
  for (unsigned threads = means.threads; threads > 1; --threads)
    for (std::size_t bytes = kDeflateStreamPieceBytes; bytes >= kDeflateStreamLeastPieceBytes; bytes /= 2)
      if (fits(threads, bytes)) return limits;
  limits.threads = 1;
  return limits;
}

struct DeflateParallelDecoder::Piece : StreamPiece {
  enum class State {
    kFilling,  // by the calling thread, which alone uses it
    kWaiting,  // for a thread; its input does not change from here on
    kWorking,
    kDone,
    kLinked,  // it continues the stream, and `window` is set
    kPassed,  // it is not needed
  };
  enum class Start { kUnknown, kFound, kNone };

  std::size_t full_bytes = 0;      // how many it will have of its own
  std::size_t expected_bytes = 0;  // that its content will take
  std::size_t held_bytes = 0;      // with those of the next piece
  bool sealed = false;             // complete; only the calling thread uses this

  // Guarded by the decoder's mutex.
  std::shared_ptr<Piece> next;
  State state = State::kFilling;
  Start start = Start::kUnknown;
  std::uint64_t start_bits = 0, start_key = 0;
  bool resolving = false, resolved = false;
  std::shared_ptr<Piece> linked_next;

  std::atomic<bool> cancelled = false;

  // Used by the thread that works on the piece, then by all.
  std::shared_ptr<ContentPool::Room> room;
  std::vector<DeflatePart> parts;
  std::vector<std::byte> window, window_behind;  // before and after the first part, once linked

  std::span<const std::byte> held() const { return {memory.get(), held_bytes}; }
  std::byte* content() const { return room->get(); }
  std::uint64_t key_at(std::uint64_t bits) const { return deflate_start_key(held(), bits) + begin * 16; }
  bool waits_or_works() const { return state == State::kWaiting || state == State::kWorking; }
};

// Ends a piece where the next one begins, if that place is found, or where it has been passed.
class DeflateParallelDecoder::Guide : public DeflatePieceGuide {
 public:
  Guide(DeflateParallelDecoder& decoder, Piece& piece) : decoder_(decoder), piece_(piece) {}

  bool ends_at(std::uint64_t bits) override {
    if (bits < piece_.own_bytes * std::uint64_t{8}) return false;
    const std::uint64_t key = piece_.key_at(bits);
    std::unique_lock lock(decoder_.mutex_);
    const std::shared_ptr<Piece> next = piece_.next;
    if (!next) return false;
    if (next->start == Piece::Start::kUnknown && !std::exchange(searched_, true)) {
      lock.unlock();
      const auto found = find_deflate_start(piece_.held(), piece_.own_bytes * std::uint64_t{8},
                                            piece_.held_bytes * std::uint64_t{8});
      lock.lock();
      if (found && next->start == Piece::Start::kUnknown) {
        next->start = Piece::Start::kFound;
        next->start_bits = *found - piece_.own_bytes * std::uint64_t{8};
        next->start_key = piece_.key_at(*found);
      }
    }
    return next->start == Piece::Start::kFound && key >= next->start_key;
  }
  bool is_cancelled() override { return piece_.cancelled.load(std::memory_order_relaxed); }
  bool may_write(std::size_t bytes) override {
    const bool may = decoder_.contents_->may_write(*piece_.room, bytes);
    lacks_memory_ = lacks_memory_ || !may;
    return may;
  }
  bool lacks_memory() const { return lacks_memory_; }

 private:
  DeflateParallelDecoder& decoder_;
  Piece& piece_;
  bool searched_ = false, lacks_memory_ = false;
};

DeflateParallelDecoder::DeflateParallelDecoder(std::span<const std::byte> history, bool members,
                                               const DeflateParallelLimits& limits)
    : limits_(limits),
      members_(members),
      contents_(
          std::make_shared<ContentPool>(limits.content_bytes, limits.contents_bytes,
                                        std::min<std::size_t>(limits.content_bytes, 2 * content_share()))),
      full_bytes_(limits.piece_bytes),
      serial_(history) {}

DeflateParallelDecoder::~DeflateParallelDecoder() {
  for (const auto& piece : pieces_) piece->cancelled = true;
  stop_threads();
  // Released one by one, so that a destructor does not call the next one's, and so on.
  for (const auto& piece : pieces_) piece->next = piece->linked_next = nullptr;
}

// ---- Calling thread ----

StreamStep DeflateParallelDecoder::restore(std::span<const std::byte> input, std::span<std::byte> output) {
  if (mode_ == Mode::kAlone) {
    StreamStep step = serial_.restore(input, output);
    taken_bytes_ = position_ += step.input_bytes;
    content_bytes_ += step.output_bytes;
    alone_bytes_ += step.input_bytes;
    if (step.ended)
      mode_ = Mode::kEnded;
    else if (alone_bytes_ >= limits_.begin_bytes && step.status == Status::kOk) {
      mode_ = Mode::kSerial;
      release(position_);
    }
    return step;
  }
  StreamStep step;
  for (;;) {
    step.input_bytes += take(input.subspan(step.input_bytes));
    if (input.empty()) seal_all();
    const bool is_filled = step.input_bytes < input.size();
    const std::size_t before = step.output_bytes;
    produce(step, output, input.empty() || is_filled, is_filled);
    content_bytes_ += step.output_bytes - before;
    if (step.input_bytes != 0 || step.output_bytes != 0 || step.ended || step.status != Status::kOk ||
        input.empty() || (stops_at_points_ && point()))
      return step;
    // The only memory for a piece belongs to one that a thread still restores, although it is no longer
    // needed.
    std::unique_lock lock(mutex_);
    wait_until(lock, [&] { return pieces_.front()->state != Piece::State::kWorking; });
    lock.unlock();
    release(position_);
  }
}

StreamStep DeflateParallelDecoder::restore_so_far(std::span<std::byte> output) {
  if (mode_ == Mode::kAlone) return serial_.restore({}, output);
  StreamStep step;
  produce(step, output, true, true);
  content_bytes_ += step.output_bytes;
  return step;
}

// Copies input into pieces; returns how much there was room for.
std::size_t DeflateParallelDecoder::take(std::span<const std::byte> input) {
  std::size_t taken = 0;
  while (taken < input.size()) {
    Piece* last = pieces_.empty() ? nullptr : pieces_.back().get();
    if (last == nullptr || last->sealed || last->own_bytes == last->full_bytes) {
      if (pieces_.size() >= limits_.pieces) break;
      auto piece = std::make_shared<Piece>();
      piece->number = piece_count_++;
      piece->begin = taken_bytes_;
      fit_pieces();
      piece->full_bytes = full_bytes_;
      piece->expected_bytes = expected_bytes_;
      const std::scoped_lock lock(mutex_);
      if (idle_inputs_.empty()) {
        piece->memory = LargeBuffer(limits_.piece_bytes + limits_.overlap_bytes + kDeflateReadBehindBytes);
      } else {
        piece->memory = std::move(idle_inputs_.back());
        idle_inputs_.pop_back();
      }
      pieces_.push_back(piece);
      if (last != nullptr) last->next = piece;
      last = piece.get();
    }
    const auto some =
        input.subspan(taken, std::min(input.size() - taken, last->full_bytes - last->own_bytes));
    std::memcpy(last->memory.get() + last->own_bytes, some.data(), some.size());
    last->own_bytes = last->held_bytes = last->own_bytes + some.size();
    if (pieces_.size() > 1) {
      Piece& before = **(pieces_.end() - 2);
      if (!before.sealed) {
        const std::size_t more =
            std::min(some.size(), limits_.overlap_bytes - (before.held_bytes - before.own_bytes));
        std::memcpy(before.memory.get() + before.held_bytes, some.data(), more);
        before.held_bytes += more;
        if (before.held_bytes - before.own_bytes == limits_.overlap_bytes) seal(before);
      }
    }
    taken += some.size();
    taken_bytes_ += some.size();
  }
  return taken;
}

// Memory for the content of one piece, if all have the same.
std::size_t DeflateParallelDecoder::content_share() const {
  return static_cast<std::size_t>(limits_.contents_bytes / (limits_.threads + kDeflateStreamContentsBeside));
}

// Chooses the size of the next pieces by the content of what was restored last: contents are of like size, whatever
// the data shrinks to.
void DeflateParallelDecoder::fit_pieces() {
  const std::uint64_t input = position_ - fitted_at_, content = content_bytes_ - fitted_content_;
  if (input < limits_.overlap_bytes) return;
  const std::size_t share = content_share();
  const std::uint64_t written = content * kDeflateStreamWrittenEighths / 8;
  const std::size_t least = std::min(limits_.overlap_bytes, limits_.piece_bytes);
  full_bytes_ = limits_.piece_bytes;
  while (full_bytes_ / 2 >= least && full_bytes_ * written / input > share) full_bytes_ /= 2;
  expected_bytes_ = static_cast<std::size_t>(std::min<std::uint64_t>(full_bytes_ * written / input, share));
  fitted_at_ = position_;
  fitted_content_ = content_bytes_;
}

void DeflateParallelDecoder::seal(Piece& piece) {
  std::memset(piece.memory.get() + piece.held_bytes, 0, kDeflateReadBehindBytes);
  piece.sealed = true;
  // Works with fewer threads if not all can be started.
  if (threads_.empty() && limits_.threads > 1) start_threads(limits_.threads - 1, [this] { work(); });
  {
    const std::scoped_lock lock(mutex_);
    piece.state = Piece::State::kWaiting;
  }
  work_comes_.notify_one();
}

// Seals all pieces, since no more input is known.
void DeflateParallelDecoder::seal_all() {
  for (const auto& piece : pieces_)
    if (!piece->sealed) seal(*piece);
}

// With `waits`, waits for other threads if nothing is ready. While there is still room for pieces, the
// calling thread restores less at once, so that they fill up.
void DeflateParallelDecoder::produce(StreamStep& step, std::span<std::byte> output, bool waits,
                                     bool is_filled) {
  const std::span<std::byte> serial_room =
      waits || is_filled ? output : output.first((output.size() + 3) / 4);
  for (bool goes_on = true; goes_on && step.output_bytes < output.size() && !step.ended;) {
    if (std::exchange(at_new_point_, false) && stops_at_points_) return;
    switch (mode_) {
      case Mode::kSerial:
        if (step.output_bytes >= serial_room.size()) return;
        goes_on = restore_serially(step, serial_room);
        break;
      case Mode::kBoundary:
        goes_on = look_for_piece(waits);
        break;
      case Mode::kPiece:
        goes_on = hand_over(step, output, waits);
        break;
      case Mode::kAlone:
      case Mode::kEnded:
        return;
    }
  }
}

std::span<const std::byte> DeflateParallelDecoder::kept_from(std::uint64_t byte) const {
  const Piece* const piece = piece_with(pieces_, byte);
  return piece == nullptr ? std::span<const std::byte>() : piece->from(byte);
}

// The key of a header that begins in the input taken so far.
std::uint64_t DeflateParallelDecoder::key_at(std::uint64_t bits) const {
  const Piece* const piece = piece_with(pieces_, bits / 8);
  return piece == nullptr ? UINT64_MAX : piece->key_at(bits - piece->begin * 8);
}

// The first bit from `from_bits` on where the header may be that at which a piece begins.
std::int64_t DeflateParallelDecoder::next_start(std::uint64_t from_bits) {
  std::uint64_t next = UINT64_MAX;
  const std::scoped_lock lock(mutex_);
  for (const auto& piece : pieces_) {
    if (piece->start != Piece::Start::kFound || piece->state == Piece::State::kPassed) continue;
    // The header of a stored block begins 3 to 10 bits before its sizes: 3 bits, and up to 7 bits of 0.
    const bool stored = piece->start_key % 2 != 0;
    if (piece->start_key / 2 >= from_bits + (stored ? 3 : 0))
      next = std::min(next, std::max(from_bits, piece->start_key / 2 - (stored ? 10 : 0)));
  }
  return next == UINT64_MAX ? kNever : static_cast<std::int64_t>(next);
}

// Returns whether there is more to do at once.
bool DeflateParallelDecoder::restore_serially(StreamStep& step, std::span<std::byte> output) {
  const auto bits_before = [&] { return position_ * 8 - serial_.unread_bits(); };
  const std::uint64_t from_bits = bits_before() + (serial_.is_between_blocks() ? 1 : 0);
  const std::int64_t stop_bits =
      stops_at_points_ ? static_cast<std::int64_t>(from_bits) : next_start(from_bits);
  const StreamStep done = serial_.restore_until(
      stop_bits == kNever ? kNever : stop_bits - static_cast<std::int64_t>(position_ * 8),
      kept_from(position_), output.subspan(step.output_bytes));
  const bool goes_on = add(step, done);
  if (done.status != Status::kOk) return false;
  if (done.ended) {
    end_stream(step, position_);
    return false;
  }
  release(bits_before() / 8);
  if (serial_.is_between_blocks() && static_cast<std::int64_t>(bits_before()) >= stop_bits) {
    const auto window = serial_.window();
    go_on_at({bits_before(), {window.begin(), window.end()}});
    return true;
  }
  return goes_on;
}

void DeflateParallelDecoder::go_on_at(StreamLink link) {
  mode_ = Mode::kBoundary;
  at_new_point_ = true;
  boundary_ = std::move(link);
  go_to(boundary_);
  release(boundary_.bits / 8);
}

void DeflateParallelDecoder::go_on_serially() {
  serial_.begin(boundary_.window, first_byte(boundary_), boundary_.taken_bits());
  mode_ = Mode::kSerial;
  const std::scoped_lock lock(mutex_);
  links_ = false;
}

// Looks for a piece that begins here and fits. Returns whether there is more to do at once.
bool DeflateParallelDecoder::look_for_piece(bool waits) {
  const std::uint64_t key = key_at(boundary_.bits);
  std::unique_lock lock(mutex_);
  std::shared_ptr<Piece> found;
  for (const auto& piece : pieces_) {
    if (piece->start != Piece::Start::kFound || piece->state == Piece::State::kPassed) continue;
    if (piece->start_key == key && piece->state != Piece::State::kWaiting) found = piece;
    if (piece->start_key >= key) break;
    piece->cancelled = true;
  }
  if (found) {
    // It may not have been linked yet.
    if (found->state != Piece::State::kLinked) {
      links_ = true;
      link_key_ = key;
      link_window_ = boundary_.window;
      linked_last_ = nullptr;
      link();
      work_comes_.notify_all();
    }
    const auto works = [&] { return found->state == Piece::State::kWorking && found->start_key == key; };
    if (works() && !waits) return false;
    wait_until(lock, [&] { return !works(); });
    if (found->state == Piece::State::kLinked) {
      lock.unlock();
      current_ = found;
      part_ = part_at_ = 0;
      mode_ = Mode::kPiece;
      return true;
    }
  }
  lock.unlock();
  go_on_serially();
  return true;
}

bool DeflateParallelDecoder::hand_over(StreamStep& step, std::span<std::byte> output, bool waits) {
  Piece& piece = *current_;
  const DeflatePart& part = piece.parts[part_];
  if (part_ == 0 && part_at_ == 0) {
    std::unique_lock lock(mutex_);
    if (!piece.resolved && !waits) return false;
    wait_until(lock, [&] { return piece.resolved; });
  }
  while (part_at_ < part.content_bytes() && step.output_bytes < output.size()) {
    const bool of_symbols = part_at_ < part.symbol_count;
    const std::size_t at =
        of_symbols ? part.symbols_at + part_at_ : part.bytes_at + part_at_ - part.symbol_count;
    const std::size_t left = of_symbols ? part.symbol_count - part_at_ : part.content_bytes() - part_at_;
    if (lends_ && left >= limits_.lent_bytes) {
      // What was restored before comes first.
      if (step.output_bytes != 0) return false;
      step.lent = {piece.content() + at, left};
      step.owner = {piece.room, piece.content()};
      step.output_bytes = left;
      part_at_ += left;
      linked_bytes_ += left;
      return false;
    }
    const std::size_t count = std::min(left, output.size() - step.output_bytes);
    std::memcpy(output.data() + step.output_bytes, piece.content() + at, count);
    part_at_ += count;
    step.output_bytes += count;
    linked_bytes_ += count;
  }
  if (part_at_ < part.content_bytes()) return false;
  if (part.final) {
    end_stream(step, piece.begin + (part.end_bits + 7) / 8);
    return false;
  }
  leave_part();
  return true;
}

// Leaves a part whose content was passed on completely. The stream continues.
void DeflateParallelDecoder::leave_part() {
  const DeflatePart& part = current_->parts[part_];
  const std::uint64_t end_bits = current_->begin * 8 + part.end_bits;
  std::unique_lock lock(mutex_);
  if (part_ == 0 && current_->linked_next) {
    current_ = current_->linked_next;
    part_ = part_at_ = 0;
    at_new_point_ = true;
    const std::uint64_t begin = current_->begin;
    lock.unlock();
    position_ = (end_bits + 7) / 8;
    release(begin);
    return;
  }
  lock.unlock();
  std::vector<std::byte> window =
      part_ == 0 ? current_->window_behind
                 : deflate_window_behind(part, {current_->content(), limits_.content_bytes}, {});
  current_ = nullptr;
  go_on_at({end_bits, std::move(window)});
}

void DeflateParallelDecoder::end_stream(StreamStep& step, std::uint64_t next_byte) {
  step.ended = true;
  mode_ = Mode::kEnded;
  position_ = next_byte;
  const std::scoped_lock lock(mutex_);
  links_ = false;
}

bool DeflateParallelDecoder::begin_next(std::span<const std::byte> history) {
  if (position_ == taken_bytes_) {
    current_ = nullptr;
    seal_all();  // what is now restored without pieces is in none of them, so nothing that is added later may
                 // follow it
    release(position_);
    serial_.begin(history, std::byte{0}, 0);
    mode_ = Mode::kAlone;
    return true;
  }
  // Is this the next part of the piece in which the last stream ended?
  if (current_ && part_ + 1 < current_->parts.size() &&
      current_->begin * 8 + current_->parts[part_ + 1].begin_bits == position_ * 8 && history.empty()) {
    ++part_;
    part_at_ = 0;
    mode_ = Mode::kPiece;
    return true;
  }
  current_ = nullptr;
  go_on_at({position_ * 8, {history.begin(), history.end()}});
  return true;
}

void DeflateParallelDecoder::stop_at_points(bool stops) {
  stops_at_points_ = stops;
  serial_.stop_at_points(stops && mode_ == Mode::kAlone);
}

std::optional<StreamPoint> DeflateParallelDecoder::point() const {
  switch (mode_) {
    case Mode::kAlone:
    case Mode::kSerial:
      return serial_.point();
    case Mode::kBoundary:
      return StreamPoint{position_ * 8 - boundary_.bits, boundary_.window};
    case Mode::kPiece: {
      if (part_at_ != 0) break;
      const DeflatePart& part = current_->parts[part_];
      const std::uint64_t begin_bits = current_->begin * 8 + part.begin_bits;
      return StreamPoint{position_ * 8 - begin_bits,
                         part.begins_stream ? std::span<const std::byte>() : current_->window};
    }
    case Mode::kEnded:
      break;
  }
  return std::nullopt;
}

// Releases the pieces that are no longer needed.
void DeflateParallelDecoder::release(std::uint64_t before_byte) {
  const std::scoped_lock lock(mutex_);
  reached_byte_ = std::max(reached_byte_, before_byte);
  // If no block announces itself for half a piece, which is as far as a piece is searched, searching only
  // takes the core, or its caches, from the calling thread.
  const bool meets_none = mode_ == Mode::kSerial && serial_.unannounced_bits() / 8 >= limits_.piece_bytes / 2;
  if (std::exchange(meets_no_starts_, meets_none) && !meets_none) work_comes_.notify_all();
  while (!pieces_.empty()) {
    Piece& piece = *pieces_.front();
    if (piece.end() > before_byte || &piece == current_.get() || !piece.sealed) break;
    piece.cancelled = true;
    if (piece.state == Piece::State::kWorking || (piece.resolving && !piece.resolved)) break;
    if (piece.state == Piece::State::kDone) ++useless_pieces_;
    idle_inputs_.push_back(std::move(piece.memory));
    piece.room = nullptr;
    piece.linked_next = nullptr;
    piece.next = nullptr;
    if (linked_last_.get() == &piece) linked_last_ = nullptr;
    pieces_.pop_front();
    work_comes_.notify_all();
  }
}

// A thread that waits works meanwhile.
template <class Condition>
void DeflateParallelDecoder::wait_until(std::unique_lock<std::mutex>& lock, const Condition& condition) {
  work_until(lock, condition, [&](std::unique_lock<std::mutex>& held) {
    const Task task = next_task(true);
    if (!task.piece) return false;
    if (!own_decoder_) own_decoder_ = std::make_unique<DeflatePieceDecoder>();
    run(task, *own_decoder_, held);
    return true;
  });
}

// ---- Threads ----

void DeflateParallelDecoder::work() {
  std::unique_ptr<DeflatePieceDecoder> decoder(new (std::nothrow) DeflatePieceDecoder);
  if (!decoder) return;
  work_until_stopped([&](std::unique_lock<std::mutex>& lock) {
    const Task task = next_task(false);
    if (task.piece) run(task, *decoder, lock);
    return task.piece != nullptr;
  });
}

// The most urgent task.
DeflateParallelDecoder::Task DeflateParallelDecoder::next_task(bool helps) {
  const bool shares = limits_.threads == 2;
  const std::uint64_t from_byte = shares ? run_goes_on_at() : reached_byte_ + 1;
  unsigned tried_of = 1;
  for (const DeflateStreamTries& tries : kDeflateStreamTries)
    if (tried_of == 1 && useless_pieces_ >= tries.useless) tried_of = tries.one_of;
  const std::shared_ptr<Piece>* first = nullptr;
  for (const auto& piece : pieces_) {
    if (piece->state == Piece::State::kLinked && !piece->resolving) return {piece, true};
    if (piece->state != Piece::State::kWaiting || first != nullptr || (shares && helps)) continue;
    if (meets_no_starts_ || piece->number % tried_of != 0) continue;
    if (piece->begin >= from_byte) first = &piece;
  }
  if (first == nullptr) return {};
  // Where memory is used up, it comes back when content has been passed on.
  (*first)->room = contents_->take((*first)->expected_bytes);
  if (!(*first)->room) return {};
  if (shares) {
    if ((*first)->begin != run_end_byte_) run_begin_byte_ = (*first)->begin;
    run_end_byte_ = (*first)->begin + (*first)->own_bytes;
  }
  return {*first, false};
}

// If there are two threads, the calling thread restores too, and does not wait for pieces: it knows the
// window, and is faster. The other thread restores a run of pieces, one after the other, until the calling
// thread is close to where the run begins. Then it leaves some pieces to the calling thread, which passes on
// the run first, and begins another run after these.
std::uint64_t DeflateParallelDecoder::run_goes_on_at() const {
  const std::uint64_t lead_bytes = limits_.piece_bytes * kDeflateStreamLeadEighths / 8;
  if (run_begin_byte_ >= reached_byte_ + lead_bytes) return run_end_byte_;
  return std::max(run_end_byte_, reached_byte_) + lead_bytes;
}

void DeflateParallelDecoder::run(const Task& task, DeflatePieceDecoder& decoder,
                                 std::unique_lock<std::mutex>& lock) {
  Piece& piece = *task.piece;
  if (task.resolves) {
    piece.resolving = true;
    lock.unlock();
    const DeflatePart& part = piece.parts.front();
    std::byte* const at = piece.content() + part.symbols_at;
    resolve_markers(reinterpret_cast<const std::uint16_t*>(at), part.symbol_count, piece.window, at);
    lock.lock();
    piece.resolved = true;
  } else {
    piece.state = Piece::State::kWorking;
    ++searched_pieces_;
    lock.unlock();
    bool failed = false;
    try {
      restore_piece(piece, decoder);
    } catch (const std::bad_alloc&) {
      failed = true;  // the calling thread restores its bytes itself
    }
    contents_->has_written(*piece.room);
    lock.lock();
    if (failed) piece.parts.clear();
    piece.state = Piece::State::kDone;
    try {
      link();
    } catch (const std::bad_alloc&) {
      links_ = false;
    }
    work_comes_.notify_all();
  }
  work_is_done_.notify_all();
}

// The first bit that may begin a block, within the part of the piece that is searched.
std::optional<std::uint64_t> DeflateParallelDecoder::find_start(const Piece& piece, std::uint64_t from_bits) {
  const std::uint64_t end_bits = std::min(piece.own_bytes, kDeflateStreamSearchBytes) * std::uint64_t{8};
  std::optional<std::uint64_t> start;
  while (!start && from_bits < end_bits && !piece.cancelled.load(std::memory_order_relaxed)) {
    const std::uint64_t step_end_bits =
        std::min(from_bits + kDeflateStreamSearchStepBytes * std::uint64_t{8}, end_bits);
    start = find_deflate_start(piece.held(), from_bits, step_end_bits);
    from_bits = step_end_bits;
  }
  return start;
}

void DeflateParallelDecoder::restore_piece(Piece& piece, DeflatePieceDecoder& decoder) {
  Guide guide(*this, piece);
  std::optional<std::uint64_t> start;
  std::uint64_t from_bits = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (piece.start == Piece::Start::kFound) start = piece.start_bits;
  }
  for (unsigned tried = 0; tried < kMostStarts && !guide.is_cancelled(); ++tried) {
    if (!start) {
      start = find_start(piece, from_bits);
      const std::scoped_lock lock(mutex_);
      // The thread with the piece before may have found it meanwhile.
      if (tried == 0 && piece.start == Piece::Start::kFound) {
        start = piece.start_bits;
      } else if (start) {
        piece.start = Piece::Start::kFound;
        piece.start_bits = *start;
        piece.start_key = piece.key_at(*start);
      } else {
        piece.start = Piece::Start::kNone;
        return;
      }
    }
    piece.parts =
        decoder.restore(piece.held(), *start, members_, {piece.content(), limits_.content_bytes}, guide);
    if (!piece.parts.empty() || guide.lacks_memory()) return;
    from_bits = *std::exchange(start, std::nullopt) + 1;
  }
}

// Links the pieces that are done and fit, one after the other. It holds the lock, since this is little work.
void DeflateParallelDecoder::link() {
  while (links_) {
    std::shared_ptr<Piece> next;
    for (const auto& piece : pieces_) {
      if (piece->start == Piece::Start::kUnknown) {
        if (piece->state == Piece::State::kFilling) return;
        if (piece->begin * 16 + 16 * piece->own_bytes <= link_key_ || piece->state == Piece::State::kPassed)
          continue;
        return;  // it may still turn out to begin where the last piece ends
      }
      if (piece->start == Piece::Start::kNone || piece->start_key < link_key_) continue;
      next = piece;
      break;
    }
    if (next && next->start_key == link_key_ && next->waits_or_works()) return;
    links_ = false;
    if (!next || next->start_key != link_key_ || next->state != Piece::State::kDone || next->parts.empty())
      return;
    const DeflatePart& part = next->parts.front();
    const std::span<const std::byte> content(next->content(), limits_.content_bytes);
    // If a match reaches back before the beginning of the content, the calling thread reports it.
    if (link_window_.size() < kDeflateWindowBytes &&
        oldest_marker({reinterpret_cast<const std::uint16_t*>(content.data() + part.symbols_at),
                       part.symbol_count}) < kDeflateWindowBytes - link_window_.size())
      return;
    next->window_behind = deflate_window_behind(part, content, link_window_);
    next->window = std::exchange(link_window_, next->window_behind);
    next->state = Piece::State::kLinked;
    useless_pieces_ = 0;
    if (linked_last_) linked_last_->linked_next = next;
    linked_last_ = next;
    link_key_ = next->key_at(part.end_bits);
    links_ = !part.final && next->parts.size() == 1;
  }
}

}  // namespace hemstitch
