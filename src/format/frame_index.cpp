#include "format/frame_index.hpp"

#include <algorithm>
#include <utility>

#include "format/formats.hpp"
#include "format/frame_walk.hpp"

namespace hemstitch {
namespace {

class MemoryInput {
 public:
  explicit MemoryInput(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> read(std::size_t count) {
    const std::span<const std::byte> bytes =
        bytes_.subspan(at_, std::min<std::size_t>(count, bytes_.size() - at_));
    at_ += bytes.size();
    return bytes;
  }
  std::uint64_t skip(std::uint64_t count) {
    return read(static_cast<std::size_t>(std::min<std::uint64_t>(count, bytes_.size() - at_))).size();
  }
  void give_back(std::size_t count) { at_ -= count; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

struct Indexer {
  explicit Indexer(bool keep_blocks, MakeStreamDecoder make_decoder = {}, VisitFrame visit_frame = {})
      : keeps_blocks(keep_blocks),
        make_stream_decoder(std::move(make_decoder)),
        visit(std::move(visit_frame)) {}

  void frame_begins(const FrameReader& reader) {
    index.format = &stream->format();
    IndexedFrame& frame = index.frames.emplace_back();
    frame.header = reader.header();
    frame.at = reader.frame_at();
    frame.first_block = index.blocks.size();
    frame.content_bytes = frame.header.content_bytes.value_or(0);
  }
  BlockPart wanted_part(const FrameReader&) const {
    return keeps_blocks || !index.frames.back().header.content_bytes ? BlockPart::kAll : BlockPart::kNone;
  }
  bool block(const FrameReader& reader, const IndexedBlock& block, std::span<const std::byte> data) {
    IndexedFrame& frame = index.frames.back();
    ++frame.block_count;
    last_block = block;
    if (block.stored) ++frame.stored_block_count;
    if (keeps_blocks)
      index.blocks.push_back(block);
    else if (!frame.header.content_bytes)
      frame.content_bytes += measured(reader, block, data);
    return true;
  }
  StreamDecoder& decoder(const FrameReader& reader) {
    if (!make_stream_decoder)
      throw Error(Status::kUnsupportedFeature, "the end of this frame is only known after restoring it",
                  reader.place());
    stream_decoder = make_stream_decoder(stream->format(), reader.header());
    return *stream_decoder;
  }
  void stream_passed(std::uint64_t content_bytes) {
    IndexedFrame& frame = index.frames.back();
    if (!frame.header.content_bytes) frame.content_bytes = content_bytes;
  }
  bool frame_ends(const FrameReader& reader) {
    IndexedFrame& frame = index.frames.back();
    frame.bytes = reader.position() - frame.at;
    frame.content_checksum = reader.content_checksum();
    frame.content_bytes_low = reader.content_bytes_low();
    index.end_missing = reader.end_missing();
    if (frame.header.may_be_streams && reader.end_missing()) doubt(last_block);
    pass_on();
    return true;
  }
  bool skippable_frame(const FrameReader& reader) {
    IndexedFrame& frame = index.frames.emplace_back();
    frame.header.kind = frame.header.description = "skippable";
    frame.skippable = true;
    frame.at = reader.frame_at();
    frame.first_block = index.blocks.size();
    frame.bytes = reader.position() - frame.at;
    pass_on();
    return true;
  }
  void pass_on() {
    if (!visit) return;
    visit(&index.frames.back());
    index.frames.clear();
  }
  void doubt(const IndexedBlock& block) {
    constexpr std::size_t kMostDoubtful = 256;  // memory and time do not grow with the number of frames
    if (doubtful.size() < kMostDoubtful) doubtful.push_back(block);
  }
  void garbage(std::uint64_t at) { index.trailing_garbage_at = at; }
  std::uint64_t measured(const FrameReader& reader, const IndexedBlock& block,
                         std::span<const std::byte> data) const {
    if (block.stored) return block.data_bytes;
    if (block.content_bytes) return *block.content_bytes;
    if (const auto bytes = stream->format().restored_bytes(data)) return *bytes;
    throw Error(Status::kCorruptBlock, "the block's tokens are invalid",
                {reader.frame_number(), reader.block().number, reader.block().at});
  }

  template <class Input>
  FrameIndex run(FrameStream& from, Input&& input) {
    stream = &from;
    walk(from, std::forward<Input>(input), *this);
    return std::move(index);
  }

  bool keeps_blocks;
  MakeStreamDecoder make_stream_decoder;
  VisitFrame visit;
  std::unique_ptr<StreamDecoder> stream_decoder;
  const FrameStream* stream = nullptr;
  FrameIndex index;
  IndexedBlock last_block;
  std::vector<IndexedBlock> doubtful;  // nothing that belongs to their frame follows them
};

// Collects the last two blocks of one frame.
struct LastTwoBlocks {
  static void frame_begins(const FrameReader&) {}
  static BlockPart wanted_part(const FrameReader&) { return BlockPart::kNone; }
  bool block(const FrameReader&, const IndexedBlock& block, std::span<const std::byte>) {
    before_last = std::exchange(last, block);
    ++count;
    return true;
  }
  // Called for frames with blocks only.
  static StreamDecoder& decoder(const FrameReader& reader) {
    throw Error(Status::kInternal, "a stream has no blocks", reader.place());
  }
  static void stream_passed(std::uint64_t) {}
  static bool frame_ends(const FrameReader&) { return false; }
  static bool skippable_frame(const FrameReader&) { return true; }
  static void garbage(std::uint64_t) {}

  IndexedBlock last, before_last;
  std::uint64_t count = 0;
};

// The size of a block's content; nothing if the block is damaged.
std::optional<std::uint64_t> restored_bytes_at(Source& source, const IndexedBlock& block,
                                               const FrameStream& stream) {
  if (block.stored) return block.data_bytes;
  if (!source.seek(block.at)) return std::nullopt;
  std::vector<std::byte> data(block.data_bytes);
  data.resize(source.read(data));
  const auto bytes = stream.format().restored_bytes(data);
  return bytes && *bytes <= stream.reader().header().block_bytes ? bytes : std::nullopt;
}

}  // namespace

std::uint64_t FrameIndex::content_bytes() const {
  std::uint64_t bytes = 0;
  for (const IndexedFrame& frame : frames) bytes += frame.content_bytes;
  return bytes;
}

bool FrameIndex::has_separate_blocks() const {
  const auto separate = [&](const IndexedFrame& frame) {
    if (frame.skippable || frame.header.legacy || frame.header.block_kind == BlockKind::kStream) return false;
    if (frame.header.block_kind == BlockKind::kIndependent || frame.block_count == 0) return true;
    return std::ranges::all_of(blocks_of(frame).subspan(1), &IndexedBlock::stored);
  };
  return !trailing_garbage_at && !end_missing && std::ranges::all_of(frames, separate);
}

FrameIndex index_frames(std::span<const std::byte> stream, bool verify_header_checksum) {
  FrameStream frames(verify_header_checksum);
  return Indexer(true).run(frames, MemoryInput(stream));
}

std::optional<FrameIndex> index_separate_blocks(std::span<const std::byte> file,
                                                bool verify_header_checksum) {
  const FrameFormat* const format =
      FormatTable::instance().of_data(file.first(std::min(file.size(), kIdentifyBytes)));
  const auto stream = format != nullptr ? format->whole_stream(file, verify_header_checksum) : std::nullopt;
  if (!stream) {
    FrameIndex index = index_frames(file, verify_header_checksum);
    return index.has_separate_blocks() ? std::optional(std::move(index)) : std::nullopt;
  }
  FrameIndex index;
  index.format = format;
  index.blocks.push_back(*stream);
  IndexedFrame& frame = index.frames.emplace_back();
  frame.header.kind = frame.header.description = format->name();
  frame.header.takes_dictionary = false;
  frame.header.block_bytes = frame.content_bytes = stream->content_bytes.value();
  frame.header.most_data_bytes = stream->data_bytes;
  frame.bytes = file.size();
  frame.block_count = 1;
  return index;
}

FrameIndex index_frames(Source& source, const MakeStreamDecoder& make_decoder,
                        const FrameFormat* known_format, const VisitFrame& visit) {
  FrameStream frames = known_format ? FrameStream(true, *known_format) : FrameStream(true);
  if (source.total_bytes()) frames.know_file(source, FrameSearch::kTable);
  Indexer indexer(false, make_decoder, visit);
  // Whether a block of a frame that may_be_streams is a stream of another size than it states, which then
  // holds for all of the data. Damage is not looked for far.
  const auto is_stream = [&](const IndexedBlock& block) {
    constexpr std::uint64_t kMostTriedBytes = std::uint64_t{1} << 20;
    if (!make_decoder || !source.seek(block.at)) return false;
    const StreamTrial trial = frames.format().try_stream(source, kMostTriedBytes, true);
    return trial.end != StreamTrial::End::kUnsound && trial.data_bytes != block.data_bytes;
  };
  FrameIndex index;
  try {
    index = indexer.run(frames, SourceInput(source));
    if (std::ranges::none_of(indexer.doubtful, is_stream)) return index;
  } catch (const Error&) {
    if (frames.position() == 0 || !frames.reader().may_be_stream() || !is_stream({.at = frames.position()}) ||
        !source.seek(0))
      throw;
  }
  FrameStream streams(true, frames.format());
  streams.reader().read_blocks_as_streams();
  source.seek(0);
  if (visit) visit(nullptr);
  return Indexer(false, make_decoder, visit).run(streams, SourceInput(source));
}

std::optional<std::uint64_t> last_of_full_blocks(const FrameStream& begun, Source& source) {
  const FrameHeader& header = begun.reader().header();
  const std::uint64_t first_block_at = begun.position();
  if (header.announces_sizes || !header.content_bytes || header.block_kind != BlockKind::kIndependent ||
      !source.seek(first_block_at))
    return std::nullopt;
  LastTwoBlocks blocks;
  try {
    FrameStream ahead(begun);
    walk(ahead, SourceInput(source), blocks);
  } catch (const Error& error) {
    if (status_family(error.status()) == StatusFamily::kSystem) throw;
    blocks = {};  // restoring the frame will report it again
  }
  const auto last = restored_bytes_at(source, blocks.last, begun);
  const auto before_last = blocks.count > 1 ? restored_bytes_at(source, blocks.before_last, begun) : 0;
  source.seek(first_block_at);
  if (!last || !before_last) return std::nullopt;
  const std::uint64_t full_bytes = (std::max<std::uint64_t>(blocks.count, 2) - 2) * header.block_bytes;
  if (full_bytes + *before_last + *last != *header.content_bytes) return std::nullopt;
  return last;
}

}  // namespace hemstitch
