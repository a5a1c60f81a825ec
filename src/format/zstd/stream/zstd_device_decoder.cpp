#include "format/zstd/stream/zstd_device_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/device_failures.hpp"
#include "format/zstd/stream/zstd_block_places.hpp"

namespace hemstitch {
namespace {

constexpr std::uint64_t kAllArrivals = UINT64_MAX;
// Shorter frames are restored before a device would help.
constexpr std::uint64_t kLeastDeviceContentBytes = std::uint64_t{32} << 20,
                        kLeastDeviceInputBytes = std::uint64_t{8} << 20;
constexpr std::size_t kLeastPieceContentBytes = std::size_t{8} << 20;
// Places of a room have 31 bits.
constexpr std::uint64_t kMostRoomBytes = (std::uint64_t{1} << 31) - 1;
// Of links: of the run that is handed over, of the next one, and one that is still under way.
constexpr std::size_t kHostWindows = 3;
constexpr std::size_t kSkippedBytes = std::size_t{64} << 10;

}  // namespace

std::uint64_t ZstdDeviceLimits::memory_bytes(std::uint64_t window_bytes) const {
  return std::uint64_t{host_pieces} * input_bytes + kHostWindows * window_bytes;
}

std::size_t ZstdDeviceLimits::suited_blocks(std::size_t most_block_bytes, std::size_t before_blocks,
                                            std::size_t before_bytes) const {
  const std::size_t full = content_bytes / std::max<std::size_t>(most_block_bytes, 1);
  const std::size_t alike =
      before_blocks == 0 ? 0 : content_bytes / std::max<std::size_t>(before_bytes / before_blocks, 1) / 8 * 7;
  return std::min(std::max({full, alike, std::size_t{1}}), blocks);
}

std::optional<ZstdDeviceLimits> zstd_device_limits(
    const FrameHeader& header, const StreamMeans& means, std::uint64_t device_limit_bytes,
    const std::function<std::uint64_t(const ZstdDeviceLimits&)>& device_bytes) {
  // Only some of the processor's decoders report the points inside a stream, and only they know dictionaries.
  if (means.points || means.dictionary_bytes != 0 ||
      means.input_bytes.value_or(kLeastDeviceInputBytes) < kLeastDeviceInputBytes ||
      header.content_bytes.value_or(kLeastDeviceContentBytes) < kLeastDeviceContentBytes)
    return std::nullopt;
  const std::uint64_t window_bytes = header.history_bytes;
  ZstdDeviceLimits limits;
  const auto halve = [&] { limits = ZstdDeviceLimits{.content_bytes = limits.content_bytes / 2}; };
  // A piece takes as long as its longest block, however few it has: so a frame is one piece, if it can be.
  const auto is_much = [&] {
    return header.content_bytes ? limits.content_bytes / 2 >= *header.content_bytes
                                : means.input_bytes && limits.input_bytes / 2 >= *means.input_bytes;
  };
  while (is_much() && limits.content_bytes / 2 >= kLeastPieceContentBytes) halve();
  for (; limits.content_bytes >= kLeastPieceContentBytes; halve()) {
    const std::uint64_t host_bytes = limits.memory_bytes(window_bytes);
    if (window_bytes + limits.content_bytes > kMostRoomBytes ||
        (means.memory_bytes != 0 && host_bytes > means.memory_bytes) ||
        (device_limit_bytes != 0 && device_bytes(limits) > device_limit_bytes))
      continue;
    StreamMeans rest = means;
    rest.loans = 0;
    if (rest.memory_bytes != 0)
      rest.memory_bytes = std::max<std::uint64_t>(rest.memory_bytes - host_bytes, 1);
    limits.processor = zstd_parallel_limits(rest, window_bytes, header.content_bytes);
    return limits;
  }
  return std::nullopt;
}

// Whole blocks, one after the other.
struct ZstdDeviceDecoder::Piece {
  std::shared_ptr<LargeBuffer> memory;
  std::size_t bytes = 0;
  std::vector<std::uint32_t> block_at;
  std::size_t most_blocks = 0;
  std::size_t blocks_end = 0;      // of those that are whole
  std::size_t decoded_blocks = 0;  // that the device was asked to decode
  std::size_t done_blocks = 0;     // of these, restored
  bool is_sealed = false;          // nothing is added
  unsigned input = 0;

  std::span<const std::byte> from_block(std::size_t number) const {
    const std::size_t at = number < block_at.size() ? block_at[number] : blocks_end;
    return {memory->get() + at, bytes - at};
  }
  std::size_t left_blocks() const { return block_at.size() - done_blocks; }
};

// A place between two blocks, and what was restored from there on.
struct ZstdDeviceDecoder::Link {
  ZstdFrameStart start;  // without the window
  std::shared_ptr<Piece> piece;
  std::span<const std::byte> bytes;  // of the run

  // The content before. Guarded by the order in which arrivals are settled.
  std::shared_ptr<LargeBuffer> window;
  std::size_t window_bytes = 0;
  bool has_window = false;
  std::shared_ptr<Link> before;  // until the window is there

  ZstdFrameStart with_window() const {
    ZstdFrameStart with = start;
    if (window) with.window = {window->get(), window_bytes};
    return with;
  }
};

// Blocks of a piece that the device restored.
struct ZstdDeviceDecoder::Run {
  std::shared_ptr<Link> link, next;
  unsigned room = 0;
  std::size_t content_bytes = 0;
  std::size_t given_bytes = 0;  // of that
  bool is_last = false;
};

// Blocks of a piece that the device decodes, from the piece's done_blocks on.
struct ZstdDeviceDecoder::Decoded {
  std::shared_ptr<Piece> piece;
  std::size_t blocks = 0;
};

// The processor's decoder, from a link on.
class ZstdDeviceDecoder::Rest {
 public:
  // Begins at the link, or, if the content before it has not arrived, at one before.
  Rest(std::uint64_t window_bytes, const ZstdParallelLimits& limits, const std::shared_ptr<Link>& link) {
    std::vector<std::shared_ptr<Link>> links{link};
    while (!links.back()->has_window) links.push_back(links.back()->before);
    decoder_ = std::make_unique<ZstdParallelDecoder>(window_bytes, limits, links.back()->with_window());
    content_at_ = links.back()->start.frame_bytes;
    for (; links.size() > 1; links.pop_back()) give(links.back()->piece, links.back()->bytes);
  }

  // Bytes to restore before any input. `piece` keeps them.
  void give(std::shared_ptr<const Piece> piece, std::span<const std::byte> bytes) {
    if (!bytes.empty()) held_.push_back({std::move(piece), bytes});
  }
  // Those of the run that begins at the link.
  void give(const std::shared_ptr<Link>& link) {
    give(link->piece, link->bytes);
    last_ = link;
  }
  const std::shared_ptr<Link>& last() const { return last_; }

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) {
    StreamStep step;
    for (;;) {
      const bool is_held = !held_.empty();
      const StreamStep done = decoder_->restore(is_held ? held_.front().bytes : input, output);
      content_at_ += done.output_bytes;
      if (!is_held) {
        step = done;
        return step;
      }
      held_.front().bytes = held_.front().bytes.subspan(done.input_bytes);
      if (held_.front().bytes.empty()) held_.pop_front();
      if (done.input_bytes != 0 && done.output_bytes == 0 && !done.ended && done.status == Status::kOk)
        continue;
      step = done;
      step.input_bytes = 0;
      return step;
    }
  }
  // The same for content that is known to come.
  void fill(std::span<std::byte> to) {
    while (!to.empty()) {
      const StreamStep step = restore({}, to);
      if (step.output_bytes == 0)
        throw Error(Status::kInternal, "what a device restored is not in the frame");
      to = to.subspan(step.output_bytes);
    }
  }
  void skip_to(std::uint64_t content_at) {
    std::vector<std::byte> skipped(kSkippedBytes);
    while (content_at_ < content_at)
      fill(std::span(skipped).first(
          static_cast<std::size_t>(std::min<std::uint64_t>(kSkippedBytes, content_at - content_at_))));
  }

  std::uint64_t ahead_bytes() const {
    std::uint64_t bytes = decoder_->ahead_bytes();
    for (const Held& held : held_) bytes += held.bytes.size();
    return bytes;
  }

 private:
  struct Held {
    std::shared_ptr<const Piece> piece;
    std::span<const std::byte> bytes;
  };
  std::shared_ptr<Link> last_;
  std::unique_ptr<ZstdParallelDecoder> decoder_;
  std::uint64_t content_at_ = 0;
  std::deque<Held> held_;
};

std::shared_ptr<LargeBuffer> ZstdDeviceDecoder::HostMemory::take(ZstdPieceDevice& device) {
  const auto idle = std::ranges::find_if(made_, [](const auto& memory) { return memory.use_count() == 1; });
  if (idle != made_.end()) return *idle;
  if (made_.size() == most_) return nullptr;
  made_.push_back(std::make_shared<LargeBuffer>(device.make_host_memory(bytes_)));
  return made_.back();
}

ZstdDeviceDecoder::ZstdDeviceDecoder(std::uint64_t window_bytes, std::unique_ptr<StreamDecoder> processor,
                                     ZstdPieceDeviceMaker make_device, const StreamMeans& means,
                                     const ZstdDeviceLimits& limits)
    : window_bytes_(window_bytes),
      most_block_bytes_(static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, kZstdMostBlockBytes))),
      settles_(means.settles),
      on_failure_(means.on_failure),
      make_device_(std::move(make_device)),
      limits_(limits),
      processor_(std::move(processor)),
      walk_(most_block_bytes_),
      link_(std::make_shared<Link>()) {
  link_->has_window = true;
}

ZstdDeviceDecoder::~ZstdDeviceDecoder() = default;

std::uint64_t ZstdDeviceDecoder::ahead_bytes() const {
  return processor_ ? processor_->ahead_bytes() : taken_bytes_ - position_;
}

void ZstdDeviceDecoder::lend_content() {
  if (processor_) processor_->lend_content();
}

StreamStep ZstdDeviceDecoder::restore(std::span<const std::byte> input, std::span<std::byte> output) {
  if (!is_begun_ && !input.empty()) begin(input);
  if (processor_) return processor_->restore(input, output);
  StreamStep step;
  for (;;) {
    if (is_for_processor()) go_on_without_device();
    if (rest_) {
      restore_rest(step, input.subspan(step.input_bytes), output);
      return step;
    }
    step.input_bytes += take(input.subspan(step.input_bytes));
    // Without more input, what there is must do.
    if (input.empty() && !pieces_.empty()) seal(*pieces_.back());
    bool is_placed = false;
    if (may_finish_run() && succeeds([&] { is_placed = device_->is_placed(); }) && is_placed) finish_run();
    begin_runs();
    hand_over(step, output);
    begin_runs();
    if (step.ended || step.output_bytes != 0) return step;
    if (is_for_processor()) continue;
    if (!may_finish_run() || (!input.empty() && step.input_bytes == input.size())) return step;
    finish_run();
  }
}

// The first bytes decide who restores the frame: the processor, if they are all of it and few.
void ZstdDeviceDecoder::begin(std::span<const std::byte> input) {
  is_begun_ = true;
  const auto first = input.first(std::min<std::size_t>(input.size(), kLeastDeviceInputBytes));
  if (find_zstd_blocks(first, ~std::size_t{0}).has_last) return;
  device_ = make_device_(limits_);
  if (!device_) return;
  processor_ = nullptr;
  piece_memory_.set(limits_.host_pieces, limits_.input_bytes);
  window_memory_.set(kHostWindows, static_cast<std::size_t>(window_bytes_));
  suited_blocks_ = limits_.suited_blocks(most_block_bytes_);
}

// ---- Input ----

// Takes input into pieces, and not a byte behind the last block. Returns how much.
std::size_t ZstdDeviceDecoder::take(std::span<const std::byte> input) {
  std::size_t taken = 0;
  while (taken < input.size() && !has_failed_) {
    Piece* const piece = piece_to_fill();
    if (piece == nullptr) break;
    const std::size_t before = piece->bytes;
    const auto some = input.subspan(taken, std::min(input.size() - taken, limits_.input_bytes - before));
    std::memcpy(piece->memory->get() + before, some.data(), some.size());
    piece->bytes += some.size();
    find_blocks(*piece);
    taken += piece->bytes + cut_.size() - before;
    if (piece->bytes > before)
      succeeds([&] {
        device_->upload(piece->input, before, {piece->memory->get() + before, piece->bytes - before});
      });
  }
  taken_bytes_ += taken;
  return taken;
}

// The last piece, or a new one; null if nothing is taken now.
ZstdDeviceDecoder::Piece* ZstdDeviceDecoder::piece_to_fill() {
  if (all_taken_) return nullptr;
  if (!pieces_.empty() && !pieces_.back()->is_sealed) return pieces_.back().get();
  if (pieces_.size() == limits_.inputs) return nullptr;
  auto memory = host_memory(piece_memory_);
  if (!memory) return nullptr;
  auto piece = std::make_shared<Piece>();
  piece->memory = std::move(memory);
  piece->input = static_cast<unsigned>(piece_count_++ % limits_.inputs);
  piece->most_blocks = suited_blocks_;
  std::ranges::copy(cut_, piece->memory->get());
  piece->bytes = cut_.size();
  cut_.clear();
  pieces_.push_back(piece);
  if (piece->bytes != 0)
    succeeds([&] { device_->upload(piece->input, 0, {piece->memory->get(), piece->bytes}); });
  return piece.get();
}

// Finds the blocks that are whole now. Gives up bytes behind the last one that the piece may have.
void ZstdDeviceDecoder::find_blocks(Piece& piece) {
  const std::span<const std::byte> data(piece.memory->get(), piece.bytes);
  const ZstdBlockPlaces found =
      find_zstd_blocks(data.subspan(piece.blocks_end), piece.most_blocks - piece.block_at.size());
  for (const std::uint32_t at : found.at)
    piece.block_at.push_back(static_cast<std::uint32_t>(piece.blocks_end + at));
  piece.blocks_end += found.data_bytes;
  has_last_ = found.has_last;
  const bool has_all_blocks = has_last_ || piece.block_at.size() == piece.most_blocks;
  if (has_all_blocks) piece.bytes = piece.blocks_end;
  // The rest of a block that is none may never come.
  const bool is_damaged = piece.bytes - piece.blocks_end >= kZstdBlockHeaderBytes &&
                          walk_.is_damaged(read_zstd_block_header(data.data() + piece.blocks_end));
  all_taken_ = has_last_ || is_damaged;
  if (all_taken_ || has_all_blocks || piece.bytes == limits_.input_bytes) seal(piece);
}

// Lets the whole blocks be decoded. A block that is cut off goes to the next piece.
void ZstdDeviceDecoder::seal(Piece& piece) {
  if (piece.is_sealed || (piece.block_at.empty() && !all_taken_)) return;
  piece.is_sealed = true;
  cut_.assign(piece.memory->get() + piece.blocks_end, piece.memory->get() + piece.bytes);
  piece.bytes = piece.blocks_end;
}

// ---- The device ----

// Calls `call`. If the device fails, says so, and returns false.
template <class Call>
bool ZstdDeviceDecoder::succeeds(const Call& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    if (!is_device_failure(error)) throw;
    if (!has_failed_.exchange(true) && on_failure_) on_failure_(error.what());
    return false;
  }
}

std::uint64_t ZstdDeviceDecoder::history_bytes(const Link& link) const {
  return std::min(link.start.frame_bytes, window_bytes_);
}

// Lets the device decode the next blocks, and place what is decoded, as far as it may.
void ZstdDeviceDecoder::begin_runs() {
  begin_decoding();
  if (is_placing_ || decoded_.empty() || has_failed_) return;
  is_placing_ = succeeds([&] { device_->place(static_cast<std::size_t>(history_bytes(*link_))); });
}

void ZstdDeviceDecoder::begin_decoding() {
  for (const std::shared_ptr<Piece>& piece : pieces_) {
    if (is_in_doubt_ || has_failed_ || decoded_.size() == kZstdDecodedPieces || !piece->is_sealed) return;
    const auto block_at = std::span(piece->block_at).subspan(piece->decoded_blocks);
    if (block_at.empty()) continue;
    if (!succeeds([&] {
          device_->decode({.input = piece->input, .block_at = block_at, .end = piece->blocks_end});
        }))
      return;
    piece->decoded_blocks = piece->block_at.size();
    decoded_.push_back({piece, block_at.size()});
  }
}

// Whether blocks are being placed, and there is a room for their content.
bool ZstdDeviceDecoder::may_finish_run() const { return is_placing_ && runs_.size() < limits_.rooms; }

// Waits until blocks are placed, and lets the device make content of them.
void ZstdDeviceDecoder::finish_run() {
  is_placing_ = false;
  succeeds([&] {
    const ZstdPieceRestored restored = device_->placed();
    const std::size_t blocks = decoded_.front().blocks;
    using Stop = ZstdPieceRestored::Stop;
    // A failing device may report anything.
    if (restored.blocks > blocks || (restored.blocks == blocks) != (restored.stop == Stop::kNone) ||
        restored.content_bytes > std::min(limits_.content_bytes, restored.blocks * most_block_bytes_) ||
        std::ranges::count(restored.repeats, 0u) != 0)
      throw Error(Status::kDeviceFault, "what was restored of a frame does not add up");
    is_in_doubt_ = restored.stop == Stop::kDoubt || restored.blocks == 0;
    if (is_in_doubt_) all_taken_ = true;
    if (restored.blocks != 0) publish(restored);
    decoded_.pop_front();
    if (restored.stop != Stop::kNone) {
      decoded_.clear();
      for (const std::shared_ptr<Piece>& piece : pieces_) piece->decoded_blocks = piece->done_blocks;
    }
    if (restored.blocks != 0) device_->resolve(runs_.back().room);
  });
}

void ZstdDeviceDecoder::publish(const ZstdPieceRestored& restored) {
  const std::shared_ptr<Piece> piece = decoded_.front().piece;
  auto next = std::make_shared<Link>();
  next->start.offsets = {restored.repeats};
  next->start.frame_bytes = link_->start.frame_bytes + restored.content_bytes;
  next->start.block_number = link_->start.block_number + restored.blocks;
  next->before = link_;
  const std::span<const std::byte> bytes = piece->from_block(piece->done_blocks);
  for (std::size_t i = 0; i < restored.blocks; ++i) {
    const std::span<const std::byte> block = piece->from_block(piece->done_blocks + i);
    const ZstdBlockHeader header = read_zstd_block_header(block.data());
    next->start.origins =
        walk_.walk(header, block.subspan(kZstdBlockHeaderBytes, header.data_bytes())).origins;
  }
  piece->done_blocks += restored.blocks;
  const bool is_done = piece->left_blocks() == 0;
  link_->piece = piece;
  link_->bytes = bytes.first(bytes.size() - piece->from_block(piece->done_blocks).size());
  runs_.push_back({.link = link_,
                   .next = next,
                   .room = static_cast<unsigned>(run_count_++ % limits_.rooms),
                   .content_bytes = restored.content_bytes,
                   .is_last = is_done && has_last_ && pieces_.size() == 1});
  link_ = next;
  if (is_done) pieces_.pop_front();
  suited_blocks_ = limits_.suited_blocks(most_block_bytes_, restored.blocks, restored.content_bytes);
}

// ---- Content ----

void ZstdDeviceDecoder::hand_over(StreamStep& step, std::span<std::byte> output) {
  while (!runs_.empty() && !has_failed_) {
    Run& run = runs_.front();
    const std::size_t count =
        std::min(run.content_bytes - run.given_bytes, output.size() - step.output_bytes);
    if (count != 0) {
      const std::uint64_t content_at = run.link->start.frame_bytes + run.given_bytes;
      arrive(run, history_bytes(*run.link) + run.given_bytes,
             {.to = output.subspan(step.output_bytes, count), .link = run.link, .content_at = content_at});
      run.given_bytes += count;
      step.output_bytes += count;
      device_bytes_ += count;
    }
    if (run.given_bytes < run.content_bytes) return;
    position_ += run.link->bytes.size();
    step.ended = run.is_last;
    if (!run.is_last) download_window(run);
    runs_.pop_front();
  }
}

// For the link behind the run.
void ZstdDeviceDecoder::download_window(const Run& run) {
  Link& next = *run.next;
  next.window_bytes = static_cast<std::size_t>(history_bytes(next));
  if (next.window_bytes == 0) {
    next.has_window = true;
    next.before = nullptr;
    return;
  }
  next.window = host_memory(window_memory_);
  if (!next.window) return;  // the device failed meanwhile
  arrive(run, history_bytes(*run.link) + run.content_bytes - next.window_bytes,
         {.to = {next.window->get(), next.window_bytes}, .link = run.next, .is_window = true});
}

// Lets a part of the run's room come down, as what `arrival` says.
void ZstdDeviceDecoder::arrive(const Run& run, std::uint64_t place, Arrival arrival) {
  if (!has_failed_)
    succeeds(
        [&] { arrival.download = device_->download(run.room, static_cast<std::size_t>(place), arrival.to); });
  const std::uint64_t number = arrivals_.add(std::move(arrival));
  if (!settles_) settle(number);
}

void ZstdDeviceDecoder::settle(std::uint64_t number) {
  const auto receive = [&](const Arrival& arrival) {
    const bool has_come = arrival.download != 0 && succeeds([&] { device_->wait(arrival.download); });
    if (!arrival.is_window) {
      if (!has_come) redo(arrival);
    } else if (has_come) {
      arrival.link->has_window = true;
      const std::scoped_lock lock(mutex_);
      arrival.link->before = nullptr;
    }
  };
  arrivals_.settle(number, receive, [&] { redone_ = nullptr; });
}

void ZstdDeviceDecoder::redo(const Arrival& arrival) {
  const std::shared_ptr<Link>& link = arrival.link;
  if (redone_ && redone_->last() != link && redone_->last() != link->before) {
    const std::scoped_lock lock(mutex_);
    redone_ = nullptr;
  }
  if (!redone_ || redone_->last() != link) {
    if (!redone_) redone_ = std::make_unique<Rest>(window_bytes_, ZstdParallelLimits{.threads = 1}, link);
    redone_->give(link);
  }
  redone_->skip_to(arrival.content_at);
  redone_->fill(arrival.to);
}

// Null only if the device failed: otherwise, some is free once everything has arrived.
std::shared_ptr<LargeBuffer> ZstdDeviceDecoder::host_memory(HostMemory& from) {
  const auto idle = [&] {
    const std::scoped_lock lock(mutex_);
    return from.take(*device_);
  };
  if (auto memory = idle()) return memory;
  settle(kAllArrivals);
  return idle();
}

// ---- Without the device ----

// Whether the device restores nothing more, and what it restored was handed over, if that is possible.
bool ZstdDeviceDecoder::is_for_processor() const {
  if (rest_) return false;
  if (has_failed_) return true;
  if (!runs_.empty() || is_placing_) return false;
  return is_in_doubt_ ||
         (all_taken_ && !has_last_ && (pieces_.empty() || pieces_.front()->left_blocks() == 0));
}

void ZstdDeviceDecoder::go_on_without_device() {
  settle(kAllArrivals);
  const std::shared_ptr<Link> link = runs_.empty() ? link_ : runs_.front().link;
  rest_ = std::make_unique<Rest>(window_bytes_, limits_.processor, link);
  for (const Run& run : runs_) rest_->give(run.link);
  for (const auto& piece : pieces_) rest_->give(piece, piece->from_block(piece->done_blocks));
  rest_->give(nullptr, cut_);
  rest_->skip_to(link->start.frame_bytes + (runs_.empty() ? 0 : runs_.front().given_bytes));
  runs_.clear();
  pieces_.clear();
  decoded_.clear();
  device_ = nullptr;
}

void ZstdDeviceDecoder::restore_rest(StreamStep& step, std::span<const std::byte> input,
                                     std::span<std::byte> output) {
  const std::size_t taken = step.input_bytes;
  step = rest_->restore(input, output);
  taken_bytes_ += step.input_bytes;
  step.input_bytes += taken;
  position_ = taken_bytes_ - rest_->ahead_bytes();
}

}  // namespace hemstitch
