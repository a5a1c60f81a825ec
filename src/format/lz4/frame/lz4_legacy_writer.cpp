#include "format/lz4/frame/lz4_legacy_writer.hpp"

#include "core/bytes.hpp"
#include "core/status.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "hemstitch/memory.hpp"

namespace hemstitch {
namespace {

// Writes legacy frames: a magic number, and blocks with their sizes before them. They have no end, and no block is
// stored.
class Lz4LegacyWriter : public FrameWriter {
 public:
  FrameRoom room() const override {
    return {.header_bytes = sizeof kLz4LegacyMagic, .before_block_bytes = kBlockHeaderBytes};
  }
  FrameLayout layout(std::uint64_t content_bytes) const override {
    return {content_bytes, kLz4LegacyBlockBytes, false};
  }
  std::size_t data_room_bytes(std::size_t content_bytes) const override {
    return lz4_block_bound(content_bytes);
  }

  std::size_t write_header(std::optional<std::uint64_t>, std::byte* to) const override {
    store_le32(to, kLz4LegacyMagic);
    return sizeof kLz4LegacyMagic;
  }
  bool states_content_bytes() const override { return false; }
  void write_before(const Block& block, std::byte* to) const override {
    if (!block.data) throw Error(Status::kInternal, "a block of a legacy frame was not written");
    store_le32(to, static_cast<std::uint32_t>(block.data->size()));
  }
  std::size_t write_behind(const Block&, std::byte*) const override { return 0; }
  std::size_t write_last_byte(std::byte, std::byte*) const override { return 0; }
  bool has_content_checksum() const override { return false; }
  std::size_t write_end(std::uint64_t, std::optional<std::uint32_t>, std::byte*) const override { return 0; }
};

}  // namespace

std::unique_ptr<FrameWriter> make_lz4_legacy_writer(const CompressOptions& options) {
  if (options.block_bytes != kLz4LegacyBlockBytes || options.linked_blocks || options.content_checksum ||
      !options.dictionary.empty())
    throw Error(Status::kInvalidOption,
                "legacy contradicts block_bytes, linked_blocks, content_checksum and dictionary");
  return std::make_unique<Lz4LegacyWriter>();
}

}  // namespace hemstitch
