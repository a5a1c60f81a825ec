#include "format/zstd/stream/zstd_parallel_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "core/large_buffer.hpp"
#include "format/zstd/stream/zstd_words.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kWholeBlockBytes = kZstdBlockHeaderBytes + kZstdMostBlockBytes;
// With so many threads, one makes content and nothing else. It is not among the first that are started: without some that decode
// it would be of no use.
constexpr unsigned kLeastThreadsForMaker = 6, kStartedBeforeMaker = 3;
// How many blocks may have content that is not taken yet.
constexpr std::size_t kMostMade = 32;
constexpr std::size_t kGroupLiteralBytes = std::size_t{384} << 10;
// Shorter ones are done before other threads would help.
constexpr std::uint64_t kLeastInputBytes = std::uint64_t{512} << 10,
                        kLeastContentBytes = std::uint64_t{1} << 20;

}  // namespace

// Consecutive blocks, which one thread decodes. Its memory is for a full group and one block more.
struct ZstdParallelDecoder::Group {
  enum class State { kFilling, kWaiting, kWorking, kDone };

  explicit Group(const ZstdParallelLimits& limits)
      : input(input_room(limits)), literals(literal_room(limits)), sequences(sequence_room(limits)) {
    clear();
  }
  static std::size_t input_room(const ZstdParallelLimits& limits) {
    return limits.group_bytes + kWholeBlockBytes + 2 * kZstdReadBeyond;
  }
  static std::size_t literal_room(const ZstdParallelLimits& limits) {
    return kGroupLiteralBytes + kZstdMostBlockBytes + (limits.group_blocks + 1) * kZstdReadBeyond;
  }
  static std::size_t sequence_room(const ZstdParallelLimits& limits) {
    return (2 * kZstdMostSequences + limits.group_blocks * kZstdSplitSequences) * sizeof(ZstdShortSequence);
  }
  static std::uint64_t memory_bytes(const ZstdParallelLimits& limits) {
    return input_room(limits) + literal_room(limits) + sequence_room(limits);
  }

  void clear() {
    state = State::kFilling;
    input_end = kZstdReadBeyond;
    literals_end = sequences_end = 0;
    blocks.clear();
    decoded.clear();
  }
  bool is_full(const ZstdParallelLimits& limits) const {
    return input_end >= limits.group_bytes + kZstdReadBeyond || blocks.size() >= limits.group_blocks ||
           literals_end >= kGroupLiteralBytes || sequences_end >= kZstdMostSequences;
  }

  // Guarded by the decoder's mutex.
  State state = State::kFilling;

  // Used by the calling thread until the group waits, then by the thread that decodes it, then by the calling thread.
  LargeBuffer input, literals, sequences;
  std::size_t input_end = 0, literals_end = 0, sequences_end = 0;
  std::vector<ZstdWalkedBlock> blocks;
  std::vector<ZstdDecodedBlock> decoded;
};

std::uint64_t ZstdParallelLimits::memory_bytes(std::uint64_t window_bytes,
                                               std::uint64_t dictionary_bytes) const {
  // The window once more, and the dictionary: ZstdParallelDecoder::begin_judging().
  return ZstdContent::memory_bytes(window_bytes, kept_bytes()) +
         std::max(groups * ZstdParallelDecoder::group_memory_bytes(*this), window_bytes + dictionary_bytes);
}

ZstdParallelLimits zstd_parallel_limits(const StreamMeans& means, std::uint64_t window_bytes,
                                        std::optional<std::uint64_t> content_bytes) {
  ZstdParallelLimits limits;
  limits.loans = means.loans;
  if (means.input_bytes.value_or(kLeastInputBytes) >= kLeastInputBytes &&
      content_bytes.value_or(kLeastContentBytes) >= kLeastContentBytes)
    for (limits.threads = means.threads; limits.threads > 1; --limits.threads) {
      limits.groups = limits.threads + limits.threads / 2 + 2;
      if (means.memory_bytes == 0 ||
          limits.memory_bytes(window_bytes, means.dictionary_bytes) <= means.memory_bytes)
        return limits;
    }
  limits.threads = 1;
  return limits;
}

std::uint64_t ZstdParallelDecoder::group_memory_bytes(const ZstdParallelLimits& limits) {
  return Group::memory_bytes(limits);
}

ZstdParallelDecoder::ZstdParallelDecoder(std::uint64_t window_bytes, const ZstdParallelLimits& limits,
                                         const ZstdDictionary& before)
    : window_bytes_(window_bytes),
      limits_(limits),
      most_block_bytes_(static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, kZstdMostBlockBytes))),
      dictionary_(before.content),
      walk_(most_block_bytes_, zstd_origins_of(before)),
      own_decoder_(std::make_unique<ZstdBlockDecoder>()),
      content_(window_bytes, limits.kept_bytes(), before),
      origins_(zstd_origins_of(before)) {
  made_.reserve(kMostMade);
}

ZstdParallelDecoder::ZstdParallelDecoder(std::uint64_t window_bytes, const ZstdParallelLimits& limits,
                                         const ZstdFrameStart& start)
    : window_bytes_(window_bytes),
      limits_(limits),
      most_block_bytes_(static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, kZstdMostBlockBytes))),
      walk_(most_block_bytes_, start.origins),
      own_decoder_(std::make_unique<ZstdBlockDecoder>()),
      content_(window_bytes, limits.kept_bytes(), start.frame_bytes, start.window, start.offsets),
      origins_(start.origins),
      block_number_(start.block_number) {
  made_.reserve(kMostMade);
  passed_bytes_ = start.frame_bytes;
}

ZstdParallelDecoder::~ZstdParallelDecoder() { stop(); }

std::uint64_t ZstdParallelDecoder::decoded_elsewhere() {
  const std::scoped_lock lock(mutex_);
  return decoded_elsewhere_;
}

// ---- Calling thread ----

StreamStep ZstdParallelDecoder::restore(std::span<const std::byte> input, std::span<std::byte> output) {
  StreamStep step;
  for (;;) {
    if (judge_) {
      judge(step, input.subspan(step.input_bytes), output);
      return step;
    }
    const std::size_t taken = take(input.subspan(step.input_bytes));
    step.input_bytes += taken;
    taken_bytes_ += taken;
    const bool waits = input.empty() || step.input_bytes < input.size();
    // Without more input, or once a block is damaged, what there is must do.
    if (input.empty() || all_taken_) seal();
    // While other threads work, as much is passed on as may be lent.
    const bool gathers = lends_ && !threads_.empty() && !input.empty();
    const auto blocks_taken = blocks_taken_;
    while (ready_.content.size() < limits_.lent_bytes &&
           take_content(waits && (gathers || ready_.content.empty()))) {
    }
    const bool was_ready = !ready_.content.empty();
    if (nothing_comes()) {
      if (!was_ready) {
        begin_judging();
        continue;
      }
    } else if (gathers && !waits && ready_.content.size() < limits_.lent_bytes && !is_made() && !ended_) {
      return step;
    }
    pass_on(step, output);
    step.ended = ended_ && ready_.content.empty();
    if (step.ended || was_ready || !waits) return step;
    // Blocks without content made room for others; otherwise, there is nothing but the beginning of a block.
    if (blocks_taken_ == blocks_taken && taken == 0) return step;
  }
}

// Whether a block is damaged, and all content before it was taken.
bool ZstdParallelDecoder::nothing_comes() {
  const std::scoped_lock lock(mutex_);
  return is_damaged_ && made_.empty();
}

bool ZstdParallelDecoder::is_made() {
  const std::scoped_lock lock(mutex_);
  return !made_.empty();
}

// Takes whole blocks into groups, and what there is of the next one. Returns how many bytes it took.
std::size_t ZstdParallelDecoder::take(std::span<const std::byte> input) {
  const std::size_t input_bytes = input.size();
  while (!all_taken_) {
    // The header first, then the data.
    std::size_t wanted = kZstdBlockHeaderBytes;
    ZstdBlockHeader header;
    const auto gather = [&] {
      const std::size_t count = std::min(input.size(), wanted - std::min(wanted, pending_.size()));
      pending_.insert(pending_.end(), input.begin(), input.begin() + static_cast<std::ptrdiff_t>(count));
      input = input.subspan(count);
      return pending_.size() >= wanted;
    };
    const bool whole_header = !pending_.empty() ? gather() : input.size() >= wanted;
    if (!whole_header) {
      gather();
      break;
    }
    const bool gathered = !pending_.empty();
    header = read_zstd_block_header(gathered ? pending_.data() : input.data());
    const bool damaged = walk_.is_damaged(header);
    if (!damaged) wanted += header.data_bytes();
    const bool whole = gathered ? gather() : input.size() >= wanted;
    if (!whole) {
      gather();
      break;
    }
    if (!has_room()) break;
    add_block(header, gathered ? std::span<const std::byte>(pending_) : input.first(wanted));
    if (gathered)
      pending_.clear();
    else
      input = input.subspan(wanted);
  }
  return input_bytes - input.size();
}

// Whether a group takes another block; begins one if there may be one more.
bool ZstdParallelDecoder::has_room() {
  if (filling_ != nullptr) return true;
  const std::scoped_lock lock(mutex_);
  if (groups_.size() >= limits_.groups) return false;
  if (idle_groups_.empty()) idle_groups_.push_back(std::make_unique<Group>(limits_));
  groups_.push_back(std::move(idle_groups_.back()));
  idle_groups_.pop_back();
  filling_ = groups_.back().get();
  filling_->clear();
  return true;
}

void ZstdParallelDecoder::add_block(const ZstdBlockHeader& header, std::span<const std::byte> bytes) {
  Group& group = *filling_;
  std::byte* const at = group.input.get() + group.input_end;
  std::ranges::copy(bytes, at);
  group.input_end += bytes.size();
  group.blocks.push_back(
      walk_.walk(header, {at + kZstdBlockHeaderBytes, bytes.size() - kZstdBlockHeaderBytes}));
  const ZstdWalkedBlock& block = group.blocks.back();
  group.literals_end += std::min(block.literals.count, kZstdMostBlockBytes) + kZstdReadBeyond;
  group.sequences_end += std::min(block.sequences, kZstdMostSequences) + kZstdSplitSequences;
  all_taken_ = header.last || block.damaged;
  if (sealed_groups_ < limits_.begin_groups || group.is_full(limits_)) seal();
}

// Lets the group be decoded.
void ZstdParallelDecoder::seal() {
  if (filling_ == nullptr || filling_->blocks.empty()) return;
  filling_->decoded.reserve(filling_->blocks.size());  // so that decoding needs little memory
  ++sealed_groups_;
  if (sealed_groups_ > limits_.begin_groups && threads_.empty() && limits_.threads > 1)
    start_threads(limits_.threads - 1, [this] { work(); });
  {
    const std::scoped_lock lock(mutex_);
    filling_->state = Group::State::kWaiting;
  }
  filling_ = nullptr;
  work_comes_.notify_one();
}

// Takes content of a block. Returns false if there is none; if it waits, if none can be made. And if it does not follow in
// memory on what is to be passed on.
bool ZstdParallelDecoder::take_content(bool waits) {
  std::unique_lock lock(mutex_);
  if (waits || threads_.empty()) {
    const auto is_over = [&] {
      return !made_.empty() || (!makes_content_ && (is_damaged_ || groups_.empty() ||
                                                    groups_.front()->state == Group::State::kFilling));
    };
    work_until(lock, is_over, [&](std::unique_lock<std::mutex>& held) { return do_own_task(held); });
  }
  if (made_.empty()) return false;
  Made& next = made_.front();
  const std::span<const std::byte> ready = ready_.content;
  if (ready.empty())
    ready_ = next;
  else if (next.content.empty() || ready.data() + ready.size() == next.content.data())
    ready_.content = {ready.data(), ready.size() + next.content.size()};
  else
    return false;
  position_ += next.input_bytes;
  ended_ = next.last;
  ++blocks_taken_;
  const bool could_not = !may_make_content();
  made_bytes_ -= next.content.size();
  made_.erase(made_.begin());
  if (could_not) call_maker();
  return true;
}

void ZstdParallelDecoder::pass_on(StreamStep& step, std::span<std::byte> output) {
  std::span<const std::byte>& ready = ready_.content;
  if (ready.empty()) return;
  if (lends_ && ready.size() >= limits_.lent_bytes) {
    lend(step);
    return;
  }
  step.output_bytes = std::min(ready.size(), output.size());
  std::memcpy(output.data(), ready.data(), step.output_bytes);
  passed_bytes_ += step.output_bytes;
  ready = ready.subspan(step.output_bytes);
}

void ZstdParallelDecoder::lend(StreamStep& step) {
  step.lent = ready_.content;
  // An owner of its own for each loan, which keeps the memory as it is, unless content is added.
  step.owner = {std::make_shared<const std::shared_ptr<LargeBuffer>>(ready_.memory), step.lent.data()};
  step.output_bytes = step.lent.size();
  {
    const std::scoped_lock lock(mutex_);
    loans_.push_back({passed_bytes_, step.owner});
  }
  passed_bytes_ += step.lent.size();
  ready_ = {};
}

// The reference restorer continues with the block whose content could not be made. It gets what was taken. The window is in
// memory twice while it is handed over, and the groups no more. Call it without the mutex.
void ZstdParallelDecoder::begin_judging() {
  stop();
  for (const auto& group : groups_)
    for (std::size_t i = group == groups_.front() ? block_ : 0; i < group->blocks.size(); ++i) {
      const std::span<const std::byte> data = group->blocks[i].data;
      judged_.insert(judged_.end(), data.data() - kZstdBlockHeaderBytes, data.data() + data.size());
    }
  judged_.insert(judged_.end(), pending_.begin(), pending_.end());
  groups_.clear();
  idle_groups_.clear();
  ZstdFrameState state;
  state.tables = read_zstd_origins(origins_);
  state.repeats = ZstdRepeats(content_.offsets().offsets);
  state.frame_bytes = content_.bytes();
  state.block_number = block_number_;
  state.content = content_.take_window();
  state.dictionary = dictionary_;
  judge_ = std::make_unique<ZstdReferenceDecoder>(window_bytes_, std::move(state));
}

void ZstdParallelDecoder::judge(StreamStep& step, std::span<const std::byte> input,
                                std::span<std::byte> output) {
  const auto add_step = [&](const StreamStep& done) {
    step.output_bytes += done.output_bytes;
    step.ended = done.ended;
    step.status = done.status;
    step.detail = done.detail;
  };
  const StreamStep done = judge_->restore(judged_, output.subspan(step.output_bytes));
  judged_.erase(judged_.begin(), judged_.begin() + static_cast<std::ptrdiff_t>(done.input_bytes));
  add_step(done);
  if (judged_.empty() && !step.ended && step.status == Status::kOk) {
    const StreamStep more = judge_->restore(input, output.subspan(step.output_bytes));
    step.input_bytes += more.input_bytes;
    taken_bytes_ += more.input_bytes;
    add_step(more);
  }
  position_ = taken_bytes_ - judged_.size() - judge_->ahead_bytes();
}

// ---- Threads ----

void ZstdParallelDecoder::work() {
  const std::unique_ptr<ZstdBlockDecoder> decoder(new (std::nothrow) ZstdBlockDecoder);
  if (!decoder) return;
  {
    std::unique_lock lock(mutex_);
    if (++started_threads_ > kStartedBeforeMaker && limits_.threads >= kLeastThreadsForMaker &&
        !std::exchange(has_maker_, true)) {
      while (!stops_)
        if (may_make_content())
          make_content(lock);
        else
          content_may_come_.wait(lock);
      return;
    }
  }
  work_until_stopped([&](std::unique_lock<std::mutex>& lock) { return decode_next(lock, *decoder); });
}

void ZstdParallelDecoder::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
  }
  content_may_come_.notify_all();
  stop_threads();
}

// What the calling thread does while it waits for content. Content first: the other threads can go on without this thread, but not
// without its content. If another one makes content, it soon waits for this one to take it, so this one decodes nothing.
bool ZstdParallelDecoder::do_own_task(std::unique_lock<std::mutex>& lock) {
  if (has_maker_) return false;
  if (!may_make_content()) return decode_next(lock, *own_decoder_);
  make_content(lock);
  return true;
}

bool ZstdParallelDecoder::decode_next(std::unique_lock<std::mutex>& lock, ZstdBlockDecoder& decoder) {
  Group* const group = next_group();
  if (group == nullptr) return false;
  decode(*group, decoder, lock);
  if (&decoder != own_decoder_.get()) decoded_elsewhere_ += group->blocks.size();
  return true;
}

// The first one that waits.
ZstdParallelDecoder::Group* ZstdParallelDecoder::next_group() {
  const auto found =
      std::ranges::find_if(groups_, [](const auto& group) { return group->state == Group::State::kWaiting; });
  return found == groups_.end() ? nullptr : found->get();
}

void ZstdParallelDecoder::decode(Group& group, ZstdBlockDecoder& decoder,
                                 std::unique_lock<std::mutex>& lock) {
  group.state = Group::State::kWorking;
  lock.unlock();
  std::byte* literals = group.literals.get();
  auto* sequences = reinterpret_cast<ZstdShortSequence*>(group.sequences.get());
  for (const ZstdWalkedBlock& block : group.blocks) {
    ZstdDecodedBlock decoded;
    decoded.damaged = true;
    try {
      decoded = decoder.decode(block, most_block_bytes_, literals, sequences);
    } catch (const std::bad_alloc&) {  // for a table: the reference restorer says so
    }
    group.decoded.push_back(decoded);
    literals += std::min(block.literals.count, kZstdMostBlockBytes) + kZstdReadBeyond;
    sequences += std::min(block.sequences, kZstdMostSequences) + kZstdSplitSequences;
  }
  lock.lock();
  group.state = Group::State::kDone;
  tell();
}

// Call it with the mutex held. So much content may wait that it stays where it is until it is passed on.
bool ZstdParallelDecoder::may_make_content() const {
  return !makes_content_ && !is_damaged_ && made_bytes_ < limits_.waiting_bytes() &&
         made_.size() < kMostMade && !groups_.empty() && groups_.front()->state == Group::State::kDone;
}

// Of blocks of the first group, as many as may wait.
void ZstdParallelDecoder::make_content(std::unique_lock<std::mutex>& lock) {
  Group& group = *groups_.front();
  makes_content_ = true;
  while (block_ < group.blocks.size() && made_bytes_ < limits_.waiting_bytes() && made_.size() < kMostMade) {
    while (!loans_.empty() && loans_.front().owner.expired()) loans_.pop_front();
    // What is lent longer than others keeps the memory for itself.
    const bool leaves = !loans_.empty() && content_.bytes() - loans_.front().begin > limits_.kept_bytes();
    if (leaves) loans_.clear();
    const ZstdWalkedBlock& block = group.blocks[block_];
    Made made;
    bool is_right = false;
    lock.unlock();
    try {
      if (leaves) content_.leave_memory();
      if (const auto content = content_.add(group.decoded[block_], block.header.type)) {
        made = {*content, content_.memory(), kZstdBlockHeaderBytes + block.data.size(), block.header.last};
        is_right = true;
      }
    } catch (const std::bad_alloc&) {  // the reference restorer says so, or finds some
    }
    lock.lock();
    if (!is_right) {
      is_damaged_ = true;
      break;
    }
    origins_ = block.origins;
    ++block_number_;
    ++block_;
    made_bytes_ += made.content.size();
    made_.push_back(std::move(made));
    work_is_done_.notify_all();
  }
  makes_content_ = false;
  if (!is_damaged_ && block_ == group.blocks.size()) {
    block_ = 0;
    idle_groups_.push_back(std::move(groups_.front()));
    groups_.pop_front();
  }
  tell();
}

// Call it with the mutex held, after a task.
void ZstdParallelDecoder::tell() {
  work_is_done_.notify_all();
  call_maker();
}

// Call it with the mutex held.
void ZstdParallelDecoder::call_maker() {
  if (has_maker_ && may_make_content()) content_may_come_.notify_one();
}

}  // namespace hemstitch
