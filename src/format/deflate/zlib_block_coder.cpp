#include "format/deflate/zlib_block_coder.hpp"

#include <algorithm>
#include <vector>

#include "format/checksum.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/deflate_compress_cpu.hpp"
#include "format/deflate/frame/deflate_head.hpp"
#include "format/deflate/restore/deflate_restore.hpp"

namespace hemstitch {
namespace {

class ZlibBlockCoder : public BlockCoder {
 public:
  bool restore(std::span<const std::byte> block, std::span<std::byte> output) override {
    const DeflateHead head = read_zlib_head(block.data(), block.size(), false);
    if (head.status != Status::kOk) return false;
    if (!reader_) reader_.emplace(std::span<const std::byte>{});
    const std::size_t begin = static_cast<std::size_t>(head.bytes), end = block.size() - kZlibTrailerBytes;
    const DeflateRestored restored = reader_->restore_whole(block.subspan(begin, end - begin), {}, output);
    return deflate_block_status(restored, end - begin) == Status::kOk &&
           restored.output_bytes == output.size() &&
           deflate_trailer_status(Format::kZlib, block.data() + end, output.size(), true,
                                  checksum_of(Checksum::kAdler32, output)) == Status::kOk;
  }

  std::size_t bound(std::size_t content_bytes) const override {
    return kHeaderBytes + deflate_data_room(content_bytes) + kTrailerBytes;
  }
  std::optional<std::size_t> compress(std::span<const std::byte> content, int level, int /*acceleration*/,
                                      std::span<std::byte> room) override {
    // The libraries want room for content that does not shrink.
    const std::size_t most = bound(content.size());
    if (room.size() >= most) return write(content, level, room);
    whole_.resize(most);
    const std::size_t bytes = write(content, level, whole_);
    if (bytes > room.size()) return std::nullopt;
    std::copy_n(whole_.begin(), bytes, room.begin());
    return bytes;
  }

 private:
  static constexpr std::size_t kHeaderBytes = 2, kTrailerBytes = kZlibTrailerBytes;

  std::size_t write(std::span<const std::byte> content, int level, std::span<std::byte> room) {
    // A window of 32 KB, and a hint that the level is a usual one.
    room[0] = std::byte{0x78};
    room[1] = std::byte{0x9C};
    const std::span<std::byte> data = room.subspan(kHeaderBytes, deflate_data_room(content.size()));
    const std::size_t end = kHeaderBytes + writer_.compress(content, {}, level, true, data);
    const std::uint32_t checksum = checksum_of(Checksum::kAdler32, content);
    for (unsigned i = 0; i < kTrailerBytes; ++i)
      room[end + i] = static_cast<std::byte>(checksum >> 8 * (kTrailerBytes - 1 - i));
    return end + kTrailerBytes;
  }

  DeflateCompressorCpu writer_;
  std::optional<DeflateDecoder> reader_;
  std::vector<std::byte> whole_;
};

}  // namespace

std::unique_ptr<BlockCoder> make_zlib_block_coder() { return std::make_unique<ZlibBlockCoder>(); }

}  // namespace hemstitch
