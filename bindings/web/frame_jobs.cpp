#include "frame_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/options.hpp"
#include "format/encoded_size_webgpu.hpp"

namespace hemstitch::web {
namespace {

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

std::uint64_t most_positions(const Limits& limits) {
  return (limits.binding_bytes - webgpu::kSlackBytes) / 4;
}

// ---- Writing ----

FrameCompression::FrameCompression(const CompressOptions& options)
    : options_(checked_options(options)),
      writer_(FormatTable::instance().of(options_.format).make_writer(options_)),
      held_bytes_(writer_->layout(UINT64_MAX).last_byte_apart ? 1 : 0) {
  if (writer_->has_content_checksum())
    content_checksum_.emplace(FormatTable::instance().of(options_.format).checksum());
  output_.resize(writer_->room().header_bytes);
  output_.resize(writer_->write_header(options_.content_bytes, output_.data()));
}

void FrameCompression::begin(std::uint64_t batch_bytes, std::uint64_t positions_a_block,
                             const Limits& limits) {
  limits_ = limits;
  const std::uint64_t most_blocks =
      std::min(batch_bytes / options_.block_bytes, most_positions(limits) / positions_a_block);
  batch_bytes_ = static_cast<std::size_t>(std::max<std::uint64_t>(1, most_blocks)) * options_.block_bytes;
}

std::span<std::byte> FrameCompression::room() {
  if (content_.empty()) {
    // Small content does not allocate the memory of a whole batch.
    const std::uint64_t wanted = options_.content_bytes
                                     ? std::min<std::uint64_t>(*options_.content_bytes, batch_bytes_)
                                     : batch_bytes_;
    content_.resize(whole_words(writer_->history_bytes() + static_cast<std::size_t>(wanted) + held_bytes_));
  }
  const auto room = std::span(content_).subspan(history_bytes_ + filled_bytes_);
  return room.first(std::min(room.size(), batch_bytes_ + held_bytes_ - filled_bytes_));
}

void FrameCompression::filled(std::size_t bytes) {
  if (content_checksum_)
    content_checksum_->update(std::span(content_).subspan(history_bytes_ + filled_bytes_, bytes));
  filled_bytes_ += bytes;
  content_bytes_ += bytes;
}

bool FrameCompression::next_job(bool at_end) {
  const bool full = filled_bytes_ >= batch_bytes_ + held_bytes_;
  if (filled_bytes_ == 0 || (!full && !at_end)) return false;
  layout_ = {full ? batch_bytes_ : filled_bytes_, options_.block_bytes, false};
  // If the last byte is apart, it is either held back from a full batch, or the last byte of the rest.
  if (!full) layout_.last_byte_apart = writer_->layout(content_bytes_).last_byte_apart;

  blocks_.clear();
  std::size_t data_bytes = 0, output_bytes = 0;
  for (std::uint64_t number = 0; number < layout_.body_block_count(); ++number) {
    const FrameLayout::Block at = layout_.block(number);
    Block block;
    block.content_at = history_bytes_ + static_cast<std::size_t>(at.at);
    block.begin = static_cast<std::uint32_t>(data_bytes);
    block.history_bytes =
        static_cast<std::uint32_t>(std::min<std::size_t>(writer_->history_bytes(), block.content_at));
    block.bytes = static_cast<std::uint32_t>(at.bytes);
    block.room_bytes =
        static_cast<std::uint32_t>(writer_->data_room_bytes(static_cast<std::size_t>(at.bytes)));
    data_bytes += whole_words(block.history_bytes + block.bytes);
    output_bytes += whole_words(block.room_bytes);
    blocks_.push_back(block);
  }
  job_.clear();
  if (blocks_.empty()) return true;  // there is only the last byte
  sizes_.assign(blocks_.size(), 0);
  begins_.assign(blocks_.size() + 1, 0);
  encoded_.assign(output_bytes, std::byte{});
  plan_job(blocks_, output_bytes);
  return true;
}

void FrameCompression::make_job(const webgpu::BufferPlan& buffers, const Parts& parts,
                                const std::vector<Transfer>& tables, const webgpu::Recording& recording) {
  // Histories and blocks have whole words, except for the end of the last block. So every upload begins and
  // ends at a word.
  std::vector<Transfer> uploads;
  for (const Block& block : blocks_) {
    const Transfer upload(parts.data, content_.data() + block.content_at - block.history_bytes,
                          whole_words(block.history_bytes + block.bytes), block.begin);
    // Without histories, blocks are adjacent, and are uploaded together.
    if (!uploads.empty() && uploads.back().place + uploads.back().bytes == upload.place)
      uploads.back().bytes += upload.bytes;
    else
      uploads.push_back(upload);
  }
  uploads.insert(uploads.end(), tables.begin(), tables.end());
  job_ = job_text(buffers, uploads, recording,
                  {{parts.sizes, sizes_}, {parts.begins, begins_}, {parts.output, encoded_}}, limits_);
}

std::span<std::byte> FrameCompression::encoded_room(std::size_t number, std::size_t begin,
                                                    std::size_t bytes) {
  begins_[number] = static_cast<std::uint32_t>(begin);
  return std::span(encoded_).subspan(begin, bytes);
}

void FrameCompression::encoded(std::size_t number, std::optional<std::size_t> bytes) {
  sizes_[number] = bytes ? static_cast<std::uint32_t>(*bytes) : webgpu::kEncodedTooLarge;
}

void FrameCompression::add_block(const FrameWriter::Block& block) {
  const FrameRoom room = writer_->room();
  const std::size_t at = output_.size();
  output_.resize(at + room.before_block_bytes);
  writer_->write_before(block, output_.data() + at);
  append(output_, block.bytes());
  const std::size_t behind = output_.size();
  output_.resize(behind + room.behind_block_bytes);
  output_.resize(behind + writer_->write_behind(block, output_.data() + behind));
}

void FrameCompression::finish_job() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    FrameWriter::Block block;
    block.content = std::span(content_).subspan(blocks_[i].content_at, blocks_[i].bytes);
    if (sizes_[i] != webgpu::kEncodedTooLarge) {
      if (sizes_[i] > blocks_[i].room_bytes || begins_[i] > encoded_.size() ||
          sizes_[i] > encoded_.size() - begins_[i])
        throw Error(Status::kDeviceFault, fmt::format("block {} of a batch has {} bytes in room for {}",
                                                      i + 1, sizes_[i], blocks_[i].room_bytes));
      block.data = std::span(encoded_).subspan(begins_[i], sizes_[i]);
    }
    if (writer_->has_block_content_checksums())
      block.content_checksum =
          checksum_of(FormatTable::instance().of(options_.format).checksum(), block.content);
    add_block(block);
  }
  if (layout_.last_byte_apart) {
    const std::size_t at = output_.size();
    output_.resize(at + writer_->room().last_byte_bytes);
    output_.resize(
        at + writer_->write_last_byte(content_[history_bytes_ + filled_bytes_ - 1], output_.data() + at));
  }
  const auto used = static_cast<std::size_t>(layout_.content_bytes);
  const std::size_t kept = std::min(writer_->history_bytes(), history_bytes_ + used);
  const auto begin = content_.begin() + static_cast<std::ptrdiff_t>(history_bytes_ + used - kept);
  std::copy(begin, content_.begin() + static_cast<std::ptrdiff_t>(history_bytes_ + filled_bytes_),
            content_.begin());
  history_bytes_ = kept;
  filled_bytes_ -= used;
}

void FrameCompression::finish() {
  if (options_.content_bytes && *options_.content_bytes != content_bytes_)
    throw Error(Status::kInputChanged,
                fmt::format("{} bytes were expected, {} came", *options_.content_bytes, content_bytes_));
  const std::size_t at = output_.size();
  output_.resize(at + writer_->room().end_bytes);
  output_.resize(
      at + writer_->write_end(content_bytes_,
                              content_checksum_ ? std::optional(content_checksum_->digest()) : std::nullopt,
                              output_.data() + at));
}

// ---- Reading ----

FrameRestoring::FrameRestoring(Format format, std::uint64_t most_expansion, bool verify_checksums,
                               std::uint64_t batch_bytes, const Limits& limits)
    : most_expansion_(most_expansion),
      verify_checksums_(verify_checksums),
      batch_bytes_(std::min(batch_bytes, most_positions(limits))),
      limits_(limits),
      stream_(verify_checksums, FormatTable::instance().of(format)) {}

std::span<std::byte> FrameRestoring::room(std::size_t bytes) {
  input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(std::exchange(taken_bytes_, 0)));
  const std::size_t at = input_.size();
  input_.resize(at + bytes);
  return std::span(input_).subspan(at);
}

FrameRestoring::Next FrameRestoring::next(bool at_end) {
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
    if (stream_.in_stream()) {
      if (const std::optional<Next> next = restore_stream(at_end)) return *next;
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
        throw Error(Status::kUnknownFormat, "the bytes after the last frame are not a frame",
                    {std::nullopt, std::nullopt, reader.garbage_at()});
      case FrameReader::Event::kEnd:
        if (output_.empty()) return Next::kEnd;
        job_.clear();
        return Next::kJob;
    }
  }
}

// Restores a piece of a stream on the processor. Returns nothing if the stream continues, or has ended.
// Content before damage is returned first.
std::optional<FrameRestoring::Next> FrameRestoring::restore_stream(bool at_end) {
  constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
  job_.clear();
  if (damage_) stream_.reader().stream_passed(*damage_, damage_->input_bytes, at_end);
  if (output_.size() >= batch_bytes_) return Next::kJob;
  restored_.resize(kPieceBytes);
  const StreamStep step = decoder_->restore(std::span(input_).subspan(taken_bytes_), restored_);
  taken_bytes_ += step.input_bytes;
  add_content(std::span(restored_).first(step.output_bytes));
  const bool stands = step.input_bytes == 0 && step.output_bytes == 0 && !step.ended;
  if (stands && step.status == Status::kOk && !at_end) return Next::kMoreInput;
  if ((stands || step.status != Status::kOk) && !output_.empty()) {
    damage_ = step;
    return Next::kJob;
  }
  stream_.reader().stream_passed(step, step.input_bytes, at_end);
  return std::nullopt;
}

void FrameRestoring::fail_stream(std::string_view rule) {
  StreamStep step;
  step.status = Status::kCorruptBlock;
  step.detail = rule;
  stream_.reader().stream_passed(step, 0, false);
  throw Error(Status::kInternal, "the reader takes damage for content");
}

void FrameRestoring::begin_frame() {
  const FrameReader& reader = stream_.reader();
  header_ = reader.header();
  frame_place_ = {reader.frame_number(), std::nullopt, reader.frame_at()};
  if (header_.dictionary_id)
    throw Error(Status::kUnsupportedFeature, "the frame needs a dictionary, which this module cannot take",
                frame_place_);
  frame_content_bytes_ = 0;
  history_.clear();
  content_checksum_.reset();
  if (header_.content_checksum && verify_checksums_) content_checksum_.emplace(stream_.format().checksum());
  if (header_.block_kind == BlockKind::kStream) decoder_ = make_decoder(header_, frame_place_);
}

// The room of a block is the most that its data can restore to, so a size in a header alone never allocates
// memory. Returns true if the batch must be processed before the next block can be taken.
bool FrameRestoring::take_block(std::span<const std::byte> data) {
  const FrameReader::Block& announced = stream_.reader().block();
  Block block;
  block.place = {stream_.reader().frame_number(), announced.number, announced.at};
  block.stored = announced.stored;
  block.content_checksum = announced.content_checksum;
  block.content_bytes = announced.content_bytes;
  if (announced.checksum && verify_checksums_) {
    const std::uint32_t found = checksum_of(stream_.format().checksum(), data);
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
    block.begin = added_blocks_++;
    const std::uint64_t room =
        std::min<std::uint64_t>(header_.block_bytes, std::uint64_t{data.size()} * most_expansion_);
    add_block(static_cast<std::uint32_t>(history_.size()), static_cast<std::uint32_t>(data.size()),
              static_cast<std::uint32_t>(room));
    append(data_, history_);
    append(data_, data);
    data_.resize(whole_words(data_.size()));
  }
  blocks_.push_back(block);
  return header_.block_kind == BlockKind::kLinked ||
         output_bytes() + stored_.size() + header_.block_bytes > batch_bytes_ ||
         data_.size() + header_.most_data_bytes > batch_bytes_;
}

void FrameRestoring::make_job() {
  job_.clear();
  if (added_blocks_ == 0) return;
  restored_.assign(output_bytes(), std::byte{});
  plan_job();
}

void FrameRestoring::add_content(std::span<const std::byte> content) {
  append(output_, content);
  frame_content_bytes_ += content.size();
  if (content_checksum_) content_checksum_->update(content);
  if (header_.block_kind != BlockKind::kLinked) return;
  append(history_, content);
  if (history_.size() > header_.history_bytes)
    history_.erase(history_.begin(), history_.end() - static_cast<std::ptrdiff_t>(header_.history_bytes));
}

void FrameRestoring::verify_content(const Block& block, std::span<const std::byte> content) const {
  if (block.content_bytes && *block.content_bytes != content.size())
    throw Error(Status::kContentSizeMismatch,
                fmt::format("the block's size field says {} bytes, {} were restored", *block.content_bytes,
                            content.size()),
                block.place);
  if (!block.content_checksum || !verify_checksums_) return;
  const std::uint32_t found = checksum_of(stream_.format().checksum(), content);
  if (found != *block.content_checksum)
    throw Error(Status::kBlockChecksumMismatch,
                fmt::format("the checksum of the block's content is {:#010x}, it should be {:#010x}", found,
                            *block.content_checksum),
                block.place);
}

void FrameRestoring::finish_job() {
  for (const Block& block : blocks_) {
    if (block.stored) {
      add_content(std::span(stored_).subspan(block.begin, block.bytes));
      continue;
    }
    const Result found = result(block.begin);
    if (found.status == Status::kCorruptBlock || found.status == Status::kOutputTooSmall)
      throw Error(Status::kCorruptBlock,
                  fmt::format("this is not a valid {} block", stream_.format().title()), block.place);
    if (found.status != Status::kOk || found.bytes > found.room_bytes)
      throw Error(Status::kDeviceFault, "the block could not be restored", block.place);
    const auto content = std::span<const std::byte>(restored_).subspan(found.begin, found.bytes);
    verify_content(block, content);
    add_content(content);
  }
  blocks_.clear();
  added_blocks_ = 0;
  clear_blocks();
  data_.clear();
  stored_.clear();
  if (std::exchange(frame_has_ended_, false)) end_frame();
}

void FrameRestoring::end_frame() {
  if (header_.content_bytes && *header_.content_bytes != frame_content_bytes_)
    throw Error(Status::kContentSizeMismatch,
                fmt::format("the header says {} bytes, {} were restored", *header_.content_bytes,
                            frame_content_bytes_),
                frame_place_);
  const std::optional<std::uint32_t> low = stream_.reader().content_bytes_low();
  if (low && *low != static_cast<std::uint32_t>(frame_content_bytes_))
    throw Error(
        Status::kContentSizeMismatch,
        fmt::format("the trailer says {} bytes (modulo 2^32), {} were restored", *low, frame_content_bytes_),
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
