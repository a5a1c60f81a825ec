#include "pipeline/restore_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "core/advice.hpp"
#include "core/batch_timer.hpp"
#include "core/parallel.hpp"
#include "engine/registry.hpp"
#include "pipeline/kept_memory.hpp"

namespace hemstitch {
namespace {

// If a slot has room for many blocks: at most so many bytes announce a block, with its checksum.
constexpr std::size_t kBesideDataBytes = 32;
constexpr unsigned kStreamBatches = 4;

RestoreOptions validated(const RestoreOptions& options) {
  validate(options);
  return options;
}

}  // namespace

RestoreJob::RestoreJob(const RestoreOptions& options, std::optional<ContentRange> range,
                       const StreamPlaces& places, std::optional<std::uint64_t> total_bytes, DeviceTime time)
    : options_(validated(options)),
      places_(places),
      total_bytes_(total_bytes),
      time_(time),
      threads_(resolve_threads(options.threads)),
      stream_(options.format
                  ? FrameStream(options.verify_checksums, FormatTable::instance().of(*options.format))
                  : FrameStream(options.verify_checksums)),
      place_(range),
      streams_(options_),
      doubts_(options.verify_checksums) {
  dictionary_.assign(options.dictionary.begin(), options.dictionary.end());
  options_.dictionary = dictionary_;
  report_.threads = threads_;
  // Fails before anything is read if the backend cannot be used.
  report_.backend = BackendRegistry::instance()
                        .choose(options.backend, options.device, {.direction = Direction::kRestore})
                        .name();
}

void RestoreJob::choose_engine() {
  Workload work{.direction = Direction::kRestore,
                .format = frame_format(),
                .content_bytes = header_.content_bytes,
                .compressed_bytes = total_bytes_,
                .linked_blocks = header_.block_kind == BlockKind::kLinked,
                .from = places_.from,
                .to = places_.to,
                .threads = options_.threads};
  if (place_.range() && place_.range()->end != UINT64_MAX) {
    work.content_bytes = place_.range()->end - place_.range()->begin;
    work.compressed_bytes.reset();
  }
  // A stream stays with its first engine once it has begun.
  engine_.emplace(options_.backend, options_.device, work, is_stream() ? DeviceTime::kBefore : time_,
                  options_.between_pieces);
}

bool RestoreJob::device_is_ready() {
  // Linked blocks stay with their engine, and so does a stream.
  if (header_.block_kind != BlockKind::kIndependent) return false;
  engine_->progressed(stream_.position());
  return engine_->device_is_ready();
}

void RestoreJob::take_device() {
  engine_->take_device();
  batch_input_bytes_ = 0;
  try {
    plan_for_engine();
  } catch (const Error& error) {
    engine_->refuse_device(error.what());
    plan_for_engine();
  }
}

RestoreJob::FrameShape RestoreJob::frame_shape() const {
  FrameShape shape{frame_format(),      header_.block_kind,      header_.may_be_streams,
                   header_.block_bytes, header_.most_data_bytes, header_.history_bytes,
                   std::nullopt};
  if (header_.content_bytes)
    shape.block_count =
        *header_.content_bytes / shape.block_bytes + (*header_.content_bytes % shape.block_bytes != 0);
  return shape;
}

void RestoreJob::plan_for_engine() {
  const FrameHeader& header = header_;
  const BlockEngine& engine = engine_->preferred();
  BatchNeeds needs;
  needs.block_bytes = header.block_bytes;
  needs.buffer_bytes_per_block = header.most_data_bytes + kBesideDataBytes + header.block_bytes;
  if (!is_stream())
    needs.buffer_bytes_per_block += engine.staging_bytes(header.most_data_bytes, header.block_bytes);
  // Up to half of the kept bytes are needed no more.
  if (keeps_bytes()) needs.buffer_bytes_per_block += 2 * header.most_data_bytes;
  needs.buffer_bytes_per_batch = works_in_order() ? header.history_bytes : 0;
  needs.preferred_batch_bytes =
      std::max(engine.preferred_batch_bytes(), engine.preferred_batch_blocks() * header.block_bytes);
  needs.preferred_batches_in_flight = engine.preferred_batches_in_flight(threads_);
  // One thread writes the content of a stream, whoever restores it.
  if (is_stream())
    needs.preferred_batches_in_flight = std::min(needs.preferred_batches_in_flight, kStreamBatches);
  needs.content_bytes = header.content_bytes;
  needs.memory_limit_bytes = options_.memory_limit_bytes;
  if (!is_stream())
    needs.device =
        engine.device_needs({.direction = Direction::kRestore,
                             .format = frame_format(),
                             .block_bytes = header.block_bytes,
                             .history_bytes = works_in_order() ? header.history_bytes : dictionary().size()});
  needs.device_limit_bytes = options_.gpu_memory_limit_bytes;
  const WorkspacePlan::Part kept{"dictionary", dictionary_.size(), 1, "the run"};
  plan_ = plan_batches_beside({&kept, 1}, needs);
  if (is_stream())
    streams_.plan(engine_->preferred(), frame_format(), header_, threads_, total_bytes_, dictionary().size(),
                  plan_);
  planned_shape_ = frame_shape();
  report_.planned_bytes = std::max(report_.planned_bytes, plan_.workspace.total_bytes());
  report_.planned_device_bytes = std::max(report_.planned_device_bytes, plan_.device_workspace.total_bytes());
  report_.device_limit_bytes = plan_.device_limit_bytes;
}

void RestoreJob::begin_frame() {
  const FrameReader& reader = stream_.reader();
  const auto slot_shape = [&] {
    return std::tuple(header_.block_kind, slot_input_bytes(), slot_output_bytes());
  };
  const auto shape_before = slot_shape();
  const FrameHeader& header = header_ = reader.header();
  const Place place{reader.frame_number(), std::nullopt, reader.frame_at()};
  const auto dictionary_id = [&] { return stream_.format().dictionary_id(dictionary_); };
  if (header.dictionary_id && dictionary_.empty())
    throw Error(Status::kDictionaryNeeded,
                fmt::format("the frame needs the dictionary with id {:#010x}", *header.dictionary_id), place);
  if (header.dictionary_id && !options_.accept_any_dictionary_id && *header.dictionary_id != dictionary_id())
    throw Error(Status::kDictionaryMismatch,
                fmt::format("the frame needs the dictionary with id {:#010x}, this one has id {:#010x}",
                            *header.dictionary_id, dictionary_id()),
                place);

  if (streams_.makes_index()) require_indexable();
  if (!engine_) choose_engine();
  if (is_stream() || planned_shape_ != frame_shape()) plan_for_engine();
  batch_input_bytes_ = 0;
  keeps_slots_ = slot_shape() == shape_before;

  place_.begin_frame();
  const auto history = is_stream() ? std::span<const std::byte>() : this->dictionary();
  linked_history_.assign(history.begin(), history.end());
  frame_content_bytes_ = 0;
  doubts_.begin_frame(keeps_bytes());
  if (!header.content_checksum || !options_.verify_checksums || place_.range())
    content_checksum_.reset();
  else if (content_checksum_)
    content_checksum_->reset();
  else
    content_checksum_.emplace(stream_.format().checksum());
  if (is_stream()) streams_.begin(*engine_, stream_.format(), header_, dictionary());
}

std::size_t RestoreJob::slot_input_bytes() const {
  return plan_.blocks_per_batch * (header_.most_data_bytes + kBesideDataBytes);
}

std::size_t RestoreJob::slot_output_bytes() const {
  return (works_in_order() ? header_.history_bytes : 0) + batch_bytes();
}

RestoreSlot RestoreJob::make_slot() {
  const StageTimer timer(time_line(), Stage::kStart, 0);
  RestoreSlot slot;
  const BlockEngine& engine = engine_->preferred();
  slot.input = engine.make_buffer(is_stream() ? 0 : slot_input_bytes());
  slot.output = engine.make_buffer(slot_output_bytes());
  return slot;
}

std::span<std::byte> RestoreJob::room(RestoreSlot& slot) {
  if (streams_.is_lost())
    throw Error(Status::kWrongState, "another process began to restore this stream, with threads of its own");
  if (stream_.in_stream())
    return unused_.empty() ? streams_.room(slot_input_bytes()) : std::span<std::byte>();
  const std::size_t wanted_bytes = stream_.wanted_bytes();
  if (!in_block_ && header_bytes_.size() < wanted_bytes) header_bytes_.resize(wanted_bytes);
  std::byte* const begin = in_block_ ? slot.input.get() + slot.input_bytes : header_bytes_.data();
  gathered_bytes_ += take_unused({begin + gathered_bytes_, wanted_bytes - gathered_bytes_});
  return {begin + gathered_bytes_, wanted_bytes - gathered_bytes_};
}

// Takes bytes that were received before: those that a decoder read ahead, and those that were not taken.
// Returns how many there was room for.
std::size_t RestoreJob::take_unused(std::span<std::byte> to) {
  const std::size_t ahead = streams_.read_ahead(to);
  const auto kept = unused_.first(std::min(unused_.size(), to.size() - ahead));
  std::copy(kept.begin(), kept.end(), to.begin() + static_cast<std::ptrdiff_t>(ahead));
  unused_ = unused_.subspan(kept.size());
  return ahead + kept.size();
}

Place RestoreJob::block_place() const {
  const FrameReader& reader = stream_.reader();
  return {reader.frame_number(), reader.block().number, reader.block().at};
}

RestoreJob::Event RestoreJob::received(RestoreSlot& slot, std::size_t bytes, bool at_end) {
  if (stream_.in_stream()) {
    if (bytes != 0) unused_ = streams_.received(bytes);
    return restore_stream(slot, at_end ? Input::kHasEnded : Input::kComes).value_or(Event::kMore);
  }
  gathered_bytes_ += bytes;
  if (gathered_bytes_ < stream_.wanted_bytes() && !at_end) return Event::kMore;
  const std::byte* const begin = in_block_ ? slot.input.get() + slot.input_bytes : header_bytes_.data();
  return take(slot, {begin, std::exchange(gathered_bytes_, 0)});
}

std::size_t RestoreJob::bytes_ahead(const RestoreSlot& slot, Source& source) const {
  const std::optional<std::uint64_t> total_bytes = source.total_bytes();
  // A legacy frame ends before a word that was already read; after a stream, more may have been read.
  if (!total_bytes || place_.range() || header_.legacy || in_block_ || gathered_bytes_ != 0 || is_stream() ||
      !unused_.empty() || streams_.ahead_bytes() != 0)
    return 0;
  const std::uint64_t begin = stream_.taken_bytes();
  if (batch_input_bytes_ != 0) {
    // The next blocks are probably like the last ones. To read too much and read it again is cheaper than to
    // look at each block.
    const std::uint64_t guess =
        batch_input_bytes_ * (plan_.blocks_per_batch - slot.blocks.size()) / plan_.blocks_per_batch;
    return static_cast<std::size_t>(
        std::min({guess + guess / 64, std::uint64_t{slot_input_bytes() - slot.input_bytes},
                  *total_bytes - std::min(begin, *total_bytes)}));
  }
  if (!slot.blocks.empty()) return 0;
  std::uint64_t end = begin;
  try {
    FrameStream ahead(stream_);
    std::array<std::byte, kBesideDataBytes> announcement;
    bool in_block = false;
    for (std::uint64_t blocks = 0; blocks < plan_.blocks_per_batch; end = ahead.taken_bytes()) {
      const std::size_t wanted = ahead.wanted_bytes();
      if (end + wanted > *total_bytes || end + wanted - begin > slot_input_bytes()) break;
      if (std::exchange(in_block, false)) {
        ahead.reader().block_skipped(wanted);
        ++blocks;
        continue;
      }
      const auto bytes = std::span(announcement).first(std::min(wanted, announcement.size()));
      if (bytes.size() < wanted || !source.seek(end) || source.read(bytes) < wanted) break;
      const FrameReader::Event event = ahead.step(bytes);
      in_block = event == FrameReader::Event::kBlockBegin;
      if (event == FrameReader::Event::kFrameEnd) {
        end = ahead.taken_bytes();
        break;
      }
    }
  } catch (const Error& error) {
    if (status_family(error.status()) == StatusFamily::kSystem) throw;
    // The error is reported when the block is read.
  }
  return source.seek(begin) ? static_cast<std::size_t>(end - begin) : 0;
}

RestoreJob::Event RestoreJob::received_ahead(RestoreSlot& slot, std::size_t bytes, Source& source) {
  Event event = Event::kMore;
  const std::size_t begin = slot.input_bytes, end = begin + bytes;
  while (event != Event::kFrameEnd && !full(slot) && slot.input_bytes + stream_.wanted_bytes() <= end) {
    const std::size_t at = slot.input_bytes, wanted = stream_.wanted_bytes();
    event = take(slot, {slot.input.get() + at, wanted});
    slot.input_bytes = at + wanted;
  }
  // If no block was complete, the next block is gathered alone.
  batch_input_bytes_ = slot.input_bytes == begin || slot.blocks.empty()
                           ? 0
                           : std::uint64_t{slot.input_bytes} * plan_.blocks_per_batch / slot.blocks.size();
  // There may be more bytes than the slot has room for. And if the file changes meanwhile, there may be fewer
  // blocks, or other ones, than were seen. What was not taken is read again.
  if (slot.input_bytes != end && !source.seek(stream_.taken_bytes()))
    throw Error(Status::kReadFailed, "the source cannot seek back");
  return event;
}

std::optional<RestoreJob::Event> RestoreJob::restore_so_far(RestoreSlot& slot) {
  return stream_.in_stream() ? restore_stream(slot, Input::kPauses) : std::nullopt;
}

void RestoreJob::set_aside(RestoreSlot& slot) {
  // If bytes of a block are missing, nothing else is left that was received.
  if (!in_block_ || gathered_bytes_ == 0) return;
  const std::byte* const begin = slot.input.get() + slot.input_bytes;
  aside_.assign(begin, begin + std::exchange(gathered_bytes_, 0));
  unused_ = aside_;
}

std::optional<RestoreJob::Event> RestoreJob::restore_stream(RestoreSlot& slot, Input input) {
  const std::span<std::byte> room(slot.output.get() + stream_bytes(slot), batch_bytes() - stream_bytes(slot));
  const std::uint64_t ahead_bytes = streams_.ahead_bytes();
  const StreamStep step = streams_.restore(unused_, room, input, place_.at(), stream_.reader().position());
  const bool stands_still = step.input_bytes == 0 && step.output_bytes == 0 && !step.ended;
  if (input == Input::kPauses && stands_still && step.status == Status::kOk) return std::nullopt;
  const std::uint64_t passed_bytes = step.input_bytes + ahead_bytes - streams_.ahead_bytes();
  unused_ = unused_.subspan(step.input_bytes);
  const std::uint64_t content_at = place_.at();
  place_.pass(step.output_bytes);
  const bool lent = !step.lent.empty();
  const std::span<const std::byte> content = lent ? step.lent : room.first(step.output_bytes);
  if (place_.is_before_range()) {
    // None of this content is kept, and the next step uses its room.
    streams_.settle(streams_.under_way());
  } else if (!content.empty() && (lent || slot.blocks.empty())) {
    RestoreSlot::Block block;
    block.content_at = content_at;
    block.content = content;
    slot.blocks.push_back(block);
    if (lent) slot.loan = step.owner;
  } else if (!content.empty()) {
    slot.blocks[0].content = {slot.blocks[0].content.data(), stream_bytes(slot) + content.size()};
  }
  slot.under_way = streams_.under_way();
  stream_.reader().stream_passed(step, passed_bytes, input == Input::kHasEnded);
  return range_done_or(full(slot) ? Event::kBlock : Event::kMore);
}

void RestoreJob::require_indexable() const {
  const FrameReader& reader = stream_.reader();
  const Place place{reader.frame_number(), std::nullopt, reader.frame_at()};
  if (frame_format() == Format::kBgzf)
    throw Error(Status::kUnsupportedFeature,
                fmt::format("BGZF needs no such index; {}", current_advice.bgzf_index), place);
  if (frame_format() != Format::kGzip)
    throw Error(Status::kUnsupportedFeature, "an index can only be made of gzip data", place);
}

// What the reader makes of the next bytes.
FrameReader::Event RestoreJob::step(std::span<const std::byte> gathered) {
  doubts_.keep(stream_.taken_bytes(), gathered);
  try {
    const FrameReader::Event event = stream_.step(gathered);
    if (event == FrameReader::Event::kFrameEnd && stream_.reader().end_missing())
      doubts_.passed_a_stream(stream_);
    return event;
  } catch (const Error&) {
    if (doubts_.passed_a_stream(stream_)) return FrameReader::Event::kFrameEnd;
    if (header_.may_be_streams && stream_.reader().may_be_stream()) {
      const FrameReader& reader = stream_.reader();
      RestoreSlot::Block block;
      block.place = reader.place();
      block.data_at = reader.position();
      block.content_at = place_.at();
      doubts_.unreadable(doubtful_block(block));
    }
    throw;
  }
}

DoubtfulBlock RestoreJob::doubtful_block(const RestoreSlot::Block& block) const {
  const FrameReader& reader = stream_.reader();
  const std::uint64_t at = block.place.byte_offset.value_or(block.data_at);
  DoubtfulBlock doubtful;
  // Blocks before it remain a frame.
  doubtful.frame_number = block.place.frame.value_or(reader.frame_number());
  if (block.place.block ? *block.place.block > 1 : reader.block().number > 0) ++doubtful.frame_number;
  doubtful.at = at;
  doubtful.data_at = block.data_at;
  doubtful.data_bytes = block.data.size();
  doubtful.content_at = block.content_at;
  return doubtful;
}

// Whether the first block of the slot that is not good may be a stream.
bool RestoreJob::doubts_block(const RestoreSlot& slot) {
  if (!header_.may_be_streams) return false;
  std::optional<DoubtfulBlock> first;
  if (slot.good_blocks < slot.blocks.size()) first = doubtful_block(slot.blocks[slot.good_blocks]);
  return doubts_.doubts(std::move(first), slot.error);
}

void RestoreJob::leave_blocks(Source* source) {
  const bool keeps = keeps_bytes();
  const DoubtfulBlock block = doubts_.leave(stream_.format(), keeps, source);
  if (keeps) {
    const auto kept = doubts_.kept_from(block.data_at);
    std::vector<std::byte> rest(kept.begin(), kept.end());
    std::vector<std::byte> more(std::size_t{64} << 10);
    while (const std::size_t count = take_unused(more))
      rest.insert(rest.end(), more.begin(), more.begin() + static_cast<std::ptrdiff_t>(count));
    left_ = std::move(rest);
    unused_ = left_;
  } else {
    unused_ = {};
  }
  streams_.drop();
  in_block_ = false;
  gathered_bytes_ = 0;
  place_.move_to(block.content_at);
  report_.frame_count += block.frame_number - stream_.reader().frame_number();
  stream_.reader().begin_stream_at(block.frame_number, block.at, block.data_at);
  begin_frame();
}

RestoreJob::Event RestoreJob::take(RestoreSlot& slot, std::span<const std::byte> gathered) {
  const FrameReader::Event event = step(gathered);
  const FrameReader& reader = stream_.reader();
  switch (event) {
    case FrameReader::Event::kMore:
      return Event::kMore;
    case FrameReader::Event::kFrameBegin:
      begin_frame();
      return Event::kFrameBegin;
    case FrameReader::Event::kBlockBegin:
      if (place_.may_skip_block(header_, reader.block().content_bytes)) {
        skipping_block_ = true;
        const auto known = reader.known_blocks();
        known_to_skip_ = place_.before_range(known);
        skip_bytes_ = known_to_skip_ == 0 ? reader.wanted_bytes()
                                          : known[known_to_skip_ - 1].at + known[known_to_skip_ - 1].bytes -
                                                reader.position();
        return Event::kSkip;
      }
      in_block_ = true;
      return Event::kMore;
    case FrameReader::Event::kBlockEnd: {
      in_block_ = false;
      const std::size_t data_bytes = reader.block().data_bytes;
      const std::uint64_t content_at = place_.at();
      RestoreSlot::Block block{gathered.first(data_bytes),
                               reader.block().stored,
                               reader.block().checksum,
                               block_place(),
                               content_at,
                               reader.block().content_checksum,
                               reader.block().content_bytes,
                               reader.position() - gathered.size()};
      doubts_.passed_over(std::nullopt);
      if (place_.range() && !keep_block(slot, data_bytes)) {
        if (header_.may_be_streams) {
          doubts_.passed_over(doubtful_block(block));
          doubts_.done_up_to(block.data_at);
        }
        return range_done_or(Event::kMore);
      }
      slot.blocks.push_back(block);
      slot.input_bytes += gathered.size();
      if (works_in_order()) slot.content_bytes += most_content_bytes(gathered.first(data_bytes));
      return range_done_or(Event::kBlock);
    }
    case FrameReader::Event::kFrameEnd:
      return Event::kFrameEnd;
    case FrameReader::Event::kSkip:
      skipped_bytes_ = std::min<std::uint64_t>(unused_.size(), reader.skip_bytes());
      unused_ = unused_.subspan(skipped_bytes_);
      skip_bytes_ = reader.skip_bytes() - skipped_bytes_;
      return Event::kSkip;
    case FrameReader::Event::kGarbage:
      report_.trailing_garbage_at = reader.garbage_at();
      return Event::kEnd;
    case FrameReader::Event::kEnd:
      return Event::kEnd;
  }
  throw Error(Status::kInternal, "the frame parser reported an unknown event");
}

void RestoreJob::skipped(std::uint64_t count) {
  if (!skipping_block_) return stream_.reader().skipped(count + skipped_bytes_);
  skipping_block_ = false;
  FrameReader& reader = stream_.reader();
  if (known_to_skip_ == 0) {
    place_.skip_block(header_, reader.block().content_bytes);
    reader.block_skipped(count);
  } else {
    for (const auto& block : reader.known_blocks().first(known_to_skip_)) place_.pass(block.content_bytes);
    reader.blocks_skipped(known_to_skip_, count);
  }
}

// For ranges: finds the block's place in the content. All blocks of a linked frame are kept, since later ones
// refer to them.
bool RestoreJob::keep_block(const RestoreSlot& slot, std::size_t data_bytes) {
  const FrameReader::Block& block = stream_.reader().block();
  const auto size = block.stored ? std::optional<std::uint64_t>(data_bytes)
                    : block.content_bytes
                        ? std::optional<std::uint64_t>(*block.content_bytes)
                        : stream_.format().restored_bytes({slot.input.get() + slot.input_bytes, data_bytes});
  if (!size) throw Error(Status::kCorruptBlock, "the block's tokens are invalid", block_place());
  place_.pass(*size);
  return !place_.is_before_range() || works_in_order();
}

// Of the block that was just read. Small ones are measured.
std::size_t RestoreJob::most_content_bytes(std::span<const std::byte> data) const {
  constexpr std::size_t kUsualFactor = 8;
  const std::size_t most = header_.block_bytes;
  const FrameReader::Block& block = stream_.reader().block();
  if (block.stored) return data.size();
  if (block.content_bytes) return std::min<std::size_t>(*block.content_bytes, most);
  if (data.size() >= most / kUsualFactor) return most;
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(stream_.format().restored_bytes(data).value_or(most), most));
}

BlockRestorer RestoreJob::block_restorer() {
  return {.header = header_,
          .format = stream_.format(),
          .format_id = frame_format(),
          .engine = *engine_,
          .dictionary = dictionary(),
          .verifies_checksums = options_.verify_checksums,
          .sums_up = sums_up_blocks() || (header_.block_content_checksums && options_.verify_checksums),
          .threads = threads()};
}

void RestoreJob::work(RestoreSlot& slot) {
  slot.good_blocks = 0;
  try {
    if (is_stream()) {
      if (options_.between_pieces) options_.between_pieces();
      if (slot.under_way != 0) streams_.settle(slot.under_way);
      if (!stream_is_summed_up()) block_restorer().sum_up(slot, slot.blocks.size());
      slot.good_blocks = slot.blocks.size();
    } else if (works_in_order())
      block_restorer().restore_linked(slot, linked_history_);
    else
      block_restorer().restore_independent(slot);
  } catch (...) {
    slot.error = std::current_exception();  // precedes errors met while filling the slot
  }
}

void RestoreJob::emit(RestoreSlot& slot, Sink& sink) {
  if (leaves_blocks()) {
    if (slot.error && !is_of_data(slot.error)) std::rethrow_exception(slot.error);
    return finish_emitting(slot);
  }
  const BatchTimer timer(time_line(), Stage::kWrite, ++emitted_batches_, usual_batch_bytes());
  std::span<const std::byte> run;  // adjacent blocks, to be written at once
  const auto write_run = [&] {
    if (run.empty()) return;
    const bool sums_up = content_checksum_ && !sums_up_blocks() && !stream_is_summed_up();
    const auto write = [&] { write_piece(sink, run, threads()); };
    // One thread has to sum it up, in order; others write it meanwhile.
    if (sums_up && threads() > 1 && run.size() >= kLargePieceBytes) {
      run_in_parallel(2, 1, [&](std::size_t i) { i == 0 ? write() : content_checksum_->update(run); });
    } else {
      if (sums_up) content_checksum_->update(run);
      write();
    }
    report_.output_bytes += run.size();
  };
  for (std::size_t i = 0; i < slot.good_blocks; i++) {
    frame_content_bytes_ += slot.blocks[i].content.size();
    if (sums_up_blocks() && !stream_is_summed_up())
      content_checksum_->append(slot.blocks[i].found_checksum, slot.blocks[i].content.size());
    const auto content = place_.wanted(slot.blocks[i]);
    if (run.data() + run.size() == content.data()) {
      run = {run.data(), run.size() + content.size()};
    } else {
      write_run();
      run = content;
    }
  }
  write_run();
  if (!is_stream()) report_.block_count += slot.good_blocks;  // a stream counts as one
  if (slot.error && doubts_block(slot)) return finish_emitting(slot);
  if (slot.error) std::rethrow_exception(doubts_.reported(slot.error));
  doubts_.done_up_to(slot.input_position);
  finish_emitting(slot);
}

void RestoreJob::finish_emitting(RestoreSlot& slot) const {
  slot.error = nullptr;
  slot.blocks.clear();
  slot.loan = nullptr;
  slot.input_bytes = slot.content_bytes = 0;
  slot.under_way = 0;
  slot.good_blocks = 0;
}

void RestoreJob::end_frame() {
  report_.frame_count++;
  report_.end_missing = stream_.reader().end_missing();  // whether the last frame has no end mark
  if (is_stream()) report_.block_count++;
  try {
    if (!place_.range()) verify_frame();
  } catch (const Error&) {
    std::rethrow_exception(doubts_.reported(std::current_exception()));
  }
  doubts_.end_frame();
}

void RestoreJob::verify_frame() const {
  const FrameReader& reader = stream_.reader();
  const Place place{reader.frame_number(), std::nullopt, reader.position()};
  if (header_.content_bytes && *header_.content_bytes != frame_content_bytes_)
    throw Error(Status::kContentSizeMismatch,
                fmt::format("the header says {} bytes, {} were restored", *header_.content_bytes,
                            frame_content_bytes_),
                place);
  if (reader.content_bytes_low() &&
      *reader.content_bytes_low() != static_cast<std::uint32_t>(frame_content_bytes_))
    throw Error(Status::kContentSizeMismatch,
                fmt::format("the trailer says {} bytes (modulo 2^32), {} were restored",
                            *reader.content_bytes_low(), frame_content_bytes_),
                place);
  if (!content_checksum_ || !reader.content_checksum()) return;
  const std::uint32_t found = stream_is_summed_up() ? streams_.checksum() : content_checksum_->digest();
  if (found != *reader.content_checksum())
    throw Error(Status::kContentChecksumMismatch,
                fmt::format("the content's checksum is {:#010x}, it should be {:#010x}", found,
                            *reader.content_checksum()),
                place);
}

void RestoreJob::require_range_inside_content() const {
  const auto& range = place_.range();
  if (range && range->begin > place_.at())
    throw Error(
        Status::kRangeOutsideContent,
        fmt::format("the range begins at byte {}, the content has {} bytes", range->begin, place_.at()));
}

std::size_t RestoreJob::read_rest(std::span<std::byte> into) {
  const FrameReader& reader = stream_.reader();
  const std::uint64_t zeros = reader.held_bytes() - reader.garbage().size();
  std::size_t count = 0;
  if (rest_read_bytes_ < zeros) {
    count = static_cast<std::size_t>(std::min<std::uint64_t>(zeros - rest_read_bytes_, into.size()));
    std::fill_n(into.begin(), count, std::byte{0});
  } else if (rest_read_bytes_ < reader.held_bytes()) {
    const auto left = reader.garbage().subspan(static_cast<std::size_t>(rest_read_bytes_ - zeros));
    count = std::min(left.size(), into.size());
    std::copy_n(left.begin(), count, into.begin());
  } else {
    count = take_unused(into);
  }
  rest_read_bytes_ += count;
  return count;
}

std::optional<std::vector<std::byte>> RestoreJob::rest_if_ended() const {
  if (stream_.in_stream() || in_block_ || !unused_.empty() || streams_.ahead_bytes() != 0)
    return std::nullopt;
  FrameStream ahead(stream_);
  auto gathered = std::span(header_bytes_).first(gathered_bytes_);
  try {
    for (;;) {
      const FrameReader::Event event = ahead.step(std::exchange(gathered, {}));
      if (event == FrameReader::Event::kEnd) return std::vector<std::byte>();
      if (event == FrameReader::Event::kGarbage) {
        const FrameReader& reader = ahead.reader();
        std::vector<std::byte> rest(static_cast<std::size_t>(reader.held_bytes() - reader.garbage().size()));
        rest.insert(rest.end(), reader.garbage().begin(), reader.garbage().end());
        return rest;
      }
      if (event != FrameReader::Event::kMore && event != FrameReader::Event::kFrameEnd) return std::nullopt;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
}

void RestoreJob::rest_written(std::size_t bytes) {
  report_.trailing_garbage_at.reset();
  report_.output_bytes += bytes;
  rest_written_bytes_ += bytes;
}

StreamReport RestoreJob::report() const {
  StreamReport report = report_;
  report.input_bytes = stream_.position() + rest_written_bytes_;
  if (engine_) engine_->report(report);
  return report;
}

}  // namespace hemstitch
