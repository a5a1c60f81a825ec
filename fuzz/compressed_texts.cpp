// Any bytes as a file of LZ4 frames for `search -z`. Its reader must restore what the reader of streams
// restores. The blocks that it gives to a device must lie in the file, and restore to the same content.
#include "search/compressed_texts.hpp"

#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "fuzz.hpp"
#include "guarded_buffer.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

namespace {

// Restores like a device: each block alone, with the room that its frame allows.
std::optional<Bytes> restored_in_blocks(std::span<const std::byte> file, const FrameIndex& text) {
  Bytes all;
  for (const IndexedFrame& frame : text.frames) {
    const std::size_t begin = all.size();
    for (const IndexedBlock& block : text.blocks_of(frame)) {
      require(block.at <= file.size() && block.data_bytes <= file.size() - block.at);
      const auto data = file.subspan(static_cast<std::size_t>(block.at), block.data_bytes);
      if (block.checksum && lz4_checksum(data) != *block.checksum) return std::nullopt;
      Bytes content(data.begin(), data.end());
      if (!block.stored) {
        content.resize(frame.header.block_bytes);
        const DecodedBlock decoded = restore_lz4_block_reference(data, {}, content);
        if (decoded.status != Status::kOk) return std::nullopt;
        content.resize(decoded.bytes);
      }
      all.insert(all.end(), content.begin(), content.end());
    }
    const auto content = std::span(all).subspan(begin);
    if (frame.header.content_bytes && *frame.header.content_bytes != content.size()) return std::nullopt;
    if (frame.content_checksum && *frame.content_checksum != lz4_checksum(content)) return std::nullopt;
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  testing::GuardedBuffer file(std::span(reinterpret_cast<const std::byte*>(data), size));
  RestoreOptions options;
  options.threads = 1;
  options.memory_limit_bytes = 17 << 20;  // room for a block of any size, but not for three
  const std::optional<Bytes> by_stream = restored(file.bytes(), options);

  static TextRestorer restorer(std::size_t{64} << 20);  // keeps its memory from file to file
  if (const auto text = restorer.restore(file.bytes()))
    require(by_stream && std::equal(text->begin(), text->end(), by_stream->begin(), by_stream->end()));

  if (const auto text = index_text(file.bytes())) {
    options.backend = "reference";
    require(restored_in_blocks(file.bytes(), *text) == restored(file.bytes(), options));
  }
  return 0;
}
