#include "lz4_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/options.hpp"
#include "format/encoded_size_webgpu.hpp"
#include "format/lz4/lz4_levels.hpp"

namespace hemstitch::web {
namespace {

constexpr std::size_t whole_words(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// The largest buffers of a plan have a word for each byte of the data.
std::uint64_t most_batch_bytes(const Limits& limits) {
  return (limits.binding_bytes - webgpu::kSlackBytes) / 4;
}

}  // namespace

// ---- Writing ----

Lz4Writer::Lz4Writer(CompressOptions options, std::uint64_t batch_bytes, const Limits& limits)
    : options_(checked_options(options)),
      writer_(FormatTable::instance().of(options_.format).make_writer(options_)),
      limits_(limits),
      held_bytes_(writer_->layout(UINT64_MAX).last_byte_apart ? 1 : 0) {
  const std::uint64_t most_blocks = std::min(batch_bytes, most_batch_bytes(limits)) / options_.block_bytes;
  batch_bytes_ = static_cast<std::size_t>(std::max<std::uint64_t>(1, most_blocks)) * options_.block_bytes;
  if (writer_->has_content_checksum()) content_checksum_.emplace(Checksum::kXxh32);
  output_.resize(writer_->room().header_bytes);
  output_.resize(writer_->write_header(options_.content_bytes, output_.data()));
}

std::span<std::byte> Lz4Writer::room() {
  // Small content does not take the memory of a batch.
  const std::uint64_t wanted =
      options_.content_bytes ? std::min<std::uint64_t>(*options_.content_bytes, batch_bytes_) : batch_bytes_;
  if (content_.empty()) content_.resize(whole_words(static_cast<std::size_t>(wanted) + held_bytes_));
  return std::span(content_).subspan(filled_bytes_);
}

void Lz4Writer::filled(std::size_t bytes) {
  if (content_checksum_) content_checksum_->update(std::span(content_).subspan(filled_bytes_, bytes));
  filled_bytes_ += bytes;
  content_bytes_ += bytes;
}

bool Lz4Writer::next_job(bool at_end) {
  const bool full = filled_bytes_ >= batch_bytes_ + held_bytes_;
  if (filled_bytes_ == 0 || (!full && !at_end)) return false;
  layout_ = {full ? batch_bytes_ : filled_bytes_, options_.block_bytes, false};
  // Where the last byte stands apart it is either held back from a full batch, or the last one of the rest.
  if (!full) layout_.last_byte_apart = writer_->layout(content_bytes_).last_byte_apart;

  table_ = {};
  std::size_t encoded_bytes = 0;
  for (std::uint64_t number = 0; number < layout_.body_block_count(); ++number) {
    const FrameLayout::Block block = layout_.block(number);
    const auto bytes = static_cast<std::uint32_t>(block.bytes);
    const auto room = static_cast<std::uint32_t>(writer_->data_room_bytes(bytes));
    table_.add(static_cast<std::uint32_t>(block.at), 0, bytes, room, lz4_block_plan().min_match_length);
    encoded_bytes += whole_words(room);
  }
  job_.clear();
  if (table_.rows.empty()) return true;  // the last byte alone
  const Lz4Level level = lz4_level(options_.level, options_.block_bytes);
  webgpu::BatchCapacity capacity;
  capacity.data_bytes = whole_words(table_.data_bytes);
  capacity.output_bytes = encoded_bytes;
  capacity.block_count = static_cast<std::uint32_t>(table_.rows.size());
  capacity.tile_count = static_cast<std::uint32_t>(table_.tiles.size());
  capacity.sequence_count = table_.sequence_count;
  capacity.hash_bits = webgpu::hash_bits(level);
  const webgpu::Lz4CompressPlan plan = webgpu::plan_lz4_compress(capacity);
  sizes_.assign(table_.rows.size(), 0);
  begins_.assign(table_.rows.size() + 1, 0);
  encoded_.assign(encoded_bytes, std::byte{});
  Transfer data(plan.batch.data, content_);
  data.bytes = static_cast<std::size_t>(capacity.data_bytes);
  job_ = job_text(plan.buffers, {data, {plan.batch.rows, table_.rows}, {plan.batch.tiles, table_.tiles}},
                  webgpu::record_lz4_compress(plan, table_, level, encoded_bytes),
                  {{plan.sizes, sizes_}, {plan.begins, begins_}, {plan.output, encoded_}}, limits_);
  return true;
}

void Lz4Writer::add_block(const FrameWriter::Block& block) {
  const FrameRoom room = writer_->room();
  const std::size_t at = output_.size();
  output_.resize(at + room.before_block_bytes);
  writer_->write_before(block, output_.data() + at);
  append(output_, block.bytes());
  const std::size_t behind = output_.size();
  output_.resize(behind + room.behind_block_bytes);
  output_.resize(behind + writer_->write_behind(block, output_.data() + behind));
}

void Lz4Writer::finish_job() {
  for (std::size_t i = 0; i < table_.rows.size(); ++i) {
    const webgpu::BlockRow& row = table_.rows[i];
    FrameWriter::Block block;
    block.content = std::span(content_).subspan(row.block_begin(), row.block_bytes);
    if (sizes_[i] != webgpu::kEncodedTooLarge) {
      if (sizes_[i] > row.room_bytes || begins_[i] > encoded_.size() ||
          sizes_[i] > encoded_.size() - begins_[i])
        throw Error(Status::kDeviceFault, fmt::format("block {} of a batch has {} bytes in room for {}",
                                                      i + 1, sizes_[i], row.room_bytes));
      block.data = std::span(encoded_).subspan(begins_[i], sizes_[i]);
    }
    add_block(block);
  }
  if (layout_.last_byte_apart) {
    const std::size_t at = output_.size();
    output_.resize(at + writer_->room().last_byte_bytes);
    output_.resize(at + writer_->write_last_byte(content_[filled_bytes_ - 1], output_.data() + at));
  }
  const auto used = static_cast<std::size_t>(layout_.content_bytes);
  std::copy(content_.begin() + static_cast<std::ptrdiff_t>(used),
            content_.begin() + static_cast<std::ptrdiff_t>(filled_bytes_), content_.begin());
  filled_bytes_ -= used;
}

void Lz4Writer::finish() {
  if (options_.content_bytes && *options_.content_bytes != content_bytes_)
    throw Error(Status::kInputChanged,
                fmt::format("{} bytes were announced, {} came", *options_.content_bytes, content_bytes_));
  const std::size_t at = output_.size();
  output_.resize(at + writer_->room().end_bytes);
  output_.resize(
      at + writer_->write_end(content_bytes_,
                              content_checksum_ ? std::optional(content_checksum_->digest()) : std::nullopt,
                              output_.data() + at));
}

// ---- Reading ----

Lz4Reader::Lz4Reader(bool verify_checksums, std::uint64_t batch_bytes, const Limits& limits)
    : verify_checksums_(verify_checksums),
      batch_bytes_(std::min(batch_bytes, most_batch_bytes(limits))),
      limits_(limits),
      stream_(verify_checksums) {}

std::span<std::byte> Lz4Reader::room(std::size_t bytes) {
  input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(std::exchange(taken_bytes_, 0)));
  const std::size_t at = input_.size();
  input_.resize(at + bytes);
  return std::span(input_).subspan(at);
}

Lz4Reader::Next Lz4Reader::next(bool at_end) {
  if (failure_) throw *failure_;
  for (;;) {
    const std::span<const std::byte> rest = std::span(input_).subspan(taken_bytes_);
    if (skip_bytes_ != 0) {
      const auto passed = static_cast<std::size_t>(std::min<std::uint64_t>(skip_bytes_, rest.size()));
      taken_bytes_ += passed;
      skip_bytes_ -= passed;
      skipped_bytes_ += passed;
      if (skip_bytes_ != 0 && !at_end) return Next::kMoreInput;
      skip_bytes_ = 0;
      stream_.reader().skipped(std::exchange(skipped_bytes_, 0));
      continue;
    }
    if (rest.size() < stream_.wanted_bytes() && !at_end) return Next::kMoreInput;
    const std::span<const std::byte> bytes = rest.first(std::min(stream_.wanted_bytes(), rest.size()));
    const FrameReader::Event event = stream_.step(bytes);
    taken_bytes_ += bytes.size();
    const FrameReader& reader = stream_.reader();
    switch (event) {
      case FrameReader::Event::kMore:
      case FrameReader::Event::kBlockBegin:
        break;
      case FrameReader::Event::kFrameBegin:
        begin_frame();
        break;
      case FrameReader::Event::kBlockEnd:
        if (!take_block(bytes.first(reader.block().data_bytes))) break;
        make_job();
        return Next::kJob;
      case FrameReader::Event::kFrameEnd:
        frame_has_ended_ = !blocks_.empty();
        if (!frame_has_ended_) {
          end_frame();
          break;
        }
        make_job();
        return Next::kJob;
      case FrameReader::Event::kSkip:
        skip_bytes_ = reader.skip_bytes();
        break;
      case FrameReader::Event::kGarbage:
        throw Error(Status::kUnknownFormat, "behind the last frame stands something else",
                    {std::nullopt, std::nullopt, reader.garbage_at()});
      case FrameReader::Event::kEnd:
        return Next::kEnd;
    }
  }
}

void Lz4Reader::begin_frame() {
  const FrameReader& reader = stream_.reader();
  header_ = reader.header();
  frame_place_ = {reader.frame_number(), std::nullopt, reader.frame_at()};
  if (header_.dictionary_id)
    throw Error(Status::kUnsupportedFeature,
                "the frame needs a dictionary, and there is no way to give one here", frame_place_);
  frame_content_bytes_ = 0;
  history_.clear();
  content_checksum_.reset();
  if (header_.content_checksum && verify_checksums_) content_checksum_.emplace(Checksum::kXxh32);
}

// A block's room is what its data can become at most: no size that a header declares makes memory be taken. True where the batch has to be done before the next block is taken.
bool Lz4Reader::take_block(std::span<const std::byte> data) {
  constexpr std::size_t kMostExpansion =
      255;  // a byte of an extended length stands for so many of the content
  const FrameReader::Block& announced = stream_.reader().block();
  Block block{{stream_.reader().frame_number(), announced.number, announced.at}, announced.stored, 0, 0};
  if (announced.checksum && verify_checksums_) {
    const std::uint32_t found = checksum_of(Checksum::kXxh32, data);
    if (found != *announced.checksum) {
      failure_.emplace(
          Status::kBlockChecksumMismatch,
          fmt::format("the block's checksum is {:#010x}, it should be {:#010x}", found, *announced.checksum),
          block.place);
      return true;
    }
  }
  if (announced.stored) {
    block.begin = stored_.size();
    block.bytes = data.size();
    append(stored_, data);
  } else {
    block.begin = table_.rows.size();
    const std::uint64_t room =
        std::min<std::uint64_t>(header_.block_bytes, std::uint64_t{data.size()} * kMostExpansion);
    table_.add(static_cast<std::uint32_t>(history_.size()), static_cast<std::uint32_t>(data.size()),
               static_cast<std::uint32_t>(room));
    append(data_, history_);
    append(data_, data);
    data_.resize(whole_words(data_.size()));
  }
  blocks_.push_back(block);
  return header_.block_kind == BlockKind::kLinked ||
         table_.output_bytes + stored_.size() + header_.block_bytes > batch_bytes_ ||
         data_.size() + header_.most_data_bytes > batch_bytes_;
}

void Lz4Reader::make_job() {
  job_.clear();
  if (table_.rows.empty()) return;
  const webgpu::Lz4RestorePlan plan = webgpu::plan_lz4_restore(webgpu::capacity_of(table_));
  results_.assign(table_.rows.size(), {});
  restored_.assign(static_cast<std::size_t>(table_.output_bytes), std::byte{});
  job_ = job_text(plan.buffers, {{plan.data, data_}, {plan.rows, table_.rows}},
                  webgpu::record_lz4_restore(plan, table_),
                  {{plan.results, results_}, {plan.output, restored_}}, limits_);
}

void Lz4Reader::add_content(std::span<const std::byte> content) {
  append(output_, content);
  frame_content_bytes_ += content.size();
  if (content_checksum_) content_checksum_->update(content);
  if (header_.block_kind != BlockKind::kLinked) return;
  append(history_, content);
  if (history_.size() > kHistoryBytes)
    history_.erase(history_.begin(), history_.end() - static_cast<std::ptrdiff_t>(kHistoryBytes));
}

void Lz4Reader::finish_job() {
  for (const Block& block : blocks_) {
    if (block.stored) {
      add_content(std::span(stored_).subspan(block.begin, block.bytes));
      continue;
    }
    const webgpu::RestoreRow& row = table_.rows[block.begin];
    const webgpu::RestoreResult& result = results_[block.begin];
    const Status status = webgpu::restore_status(result);
    if (status == Status::kCorruptBlock || status == Status::kOutputTooSmall)
      throw Error(Status::kCorruptBlock, "this is not a valid LZ4 block", block.place);
    if (status != Status::kOk || result.restored_bytes > row.room_bytes)
      throw Error(Status::kDeviceFault, "the block could not be restored", block.place);
    add_content(std::span(restored_).subspan(row.output_begin, result.restored_bytes));
  }
  blocks_.clear();
  table_ = {};
  data_.clear();
  stored_.clear();
  if (std::exchange(frame_has_ended_, false)) end_frame();
}

void Lz4Reader::end_frame() {
  if (header_.content_bytes && *header_.content_bytes != frame_content_bytes_)
    throw Error(Status::kContentSizeMismatch,
                fmt::format("the frame says that it holds {} bytes, {} were restored", *header_.content_bytes,
                            frame_content_bytes_),
                frame_place_);
  const std::optional<std::uint32_t> expected = stream_.reader().content_checksum();
  if (content_checksum_ && expected && content_checksum_->digest() != *expected)
    throw Error(Status::kContentChecksumMismatch,
                fmt::format("the content's checksum is {:#010x}, it should be {:#010x}",
                            content_checksum_->digest(), *expected),
                frame_place_);
  header_ = {};
}

}  // namespace hemstitch::web
