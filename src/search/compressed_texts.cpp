#include "search/compressed_texts.hpp"

#include <algorithm>

#include "engine/registry.hpp"
#include "format/formats.hpp"

namespace hemstitch {
namespace {

// The most bytes that a frame may hold: what it states, or the room of its blocks.
std::uint64_t most_restored_bytes(const FrameIndex& index, const IndexedFrame& frame) {
  if (frame.header.content_bytes) return *frame.header.content_bytes;
  std::uint64_t bytes = 0;
  for (const IndexedBlock& block : index.blocks_of(frame))
    bytes += block.stored ? block.data_bytes : frame.header.block_bytes;
  return bytes;
}

}  // namespace

std::optional<FrameIndex> index_text(std::span<const std::byte> file) {
  try {
    std::optional<FrameIndex> index = index_separate_blocks(file, true);
    const auto takes_dictionary = [](const IndexedFrame& frame) {
      return frame.header.dictionary_id.has_value();
    };
    if (!index || std::ranges::any_of(index->frames, takes_dictionary)) return std::nullopt;
    return index;
  } catch (const Error&) {
    return std::nullopt;
  }
}

TextRestorer::TextRestorer(std::size_t most_bytes, std::string_view backend)
    : most_bytes_(most_bytes),
      backend_(BackendRegistry::instance().find_usable(backend)),
      engine_(backend_.make_engine({})) {}

// Restores a block, and returns its size; nothing if it is damaged or does not fit.
std::optional<std::size_t> TextRestorer::restore_block(const FrameIndex& index, const IndexedFrame& frame,
                                                       const IndexedBlock& block,
                                                       std::span<const std::byte> file,
                                                       std::span<std::byte> room) {
  const auto data = block.data(file);
  if (block.checksum && checksum_of(index.format->checksum(), data) != *block.checksum) return std::nullopt;
  std::size_t bytes = data.size();
  if (block.stored) {
    if (data.size() > room.size()) return std::nullopt;
    std::copy(data.begin(), data.end(), room.begin());
  } else {
    BlockTask task;
    task.input = data;
    task.output = room.first(std::min(room.size(), frame.header.block_bytes));
    engine_->restore({&task, 1}, index.format->id());
    if (task.status != Status::kOk) return std::nullopt;
    bytes = task.output_bytes;
  }
  if (block.content_bytes.value_or(bytes) != bytes) return std::nullopt;
  if (block.content_checksum &&
      checksum_of(index.format->checksum(), room.first(bytes)) != *block.content_checksum)
    return std::nullopt;
  return bytes;
}

std::optional<std::span<const std::byte>> TextRestorer::restore(std::span<const std::byte> file) {
  const std::optional<FrameIndex> index = index_text(file);
  if (!index || !backend_.supports(index->format->id(), Direction::kRestore)) return std::nullopt;
  std::uint64_t most_bytes = 0;
  for (const IndexedFrame& frame : index->frames) {
    most_bytes += most_restored_bytes(*index, frame);
    if (most_bytes > most_bytes_) return std::nullopt;  // before the sum of such sizes could overflow
  }
  const std::span<std::byte> all = room(most_bytes);
  std::size_t end = 0;
  for (const IndexedFrame& frame : index->frames) {
    const std::size_t begin = end;
    for (const IndexedBlock& block : index->blocks_of(frame)) {
      const auto bytes = restore_block(*index, frame, block, file, all.subspan(end));
      if (!bytes) return std::nullopt;
      end += *bytes;
    }
    const std::span<const std::byte> content = all.subspan(begin, end - begin);
    if (frame.header.content_bytes && *frame.header.content_bytes != content.size()) return std::nullopt;
    if (frame.content_bytes_low && *frame.content_bytes_low != static_cast<std::uint32_t>(content.size()))
      return std::nullopt;
    if (frame.content_checksum && *frame.content_checksum != checksum_of(index->format->checksum(), content))
      return std::nullopt;
  }
  return all.first(end);
}

std::span<std::byte> TextRestorer::room(std::size_t bytes) {
  if (bytes > memory_bytes_) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    memory_bytes_ = bytes;
  }
  return {memory_.get(), bytes};
}

}  // namespace hemstitch
