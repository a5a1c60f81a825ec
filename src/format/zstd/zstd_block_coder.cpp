#include "format/zstd/zstd_block_coder.hpp"

#include "format/zstd/zstd_library.hpp"

namespace hemstitch {
namespace {

class ZstdBlockCoder : public BlockCoder {
 public:
  bool restore(std::span<const std::byte> block, std::span<std::byte> output) override {
    if (!reader_) reader_.reset(ZSTD_createDCtx());
    if (!reader_) throw_no_memory_for_zstd();
    const std::size_t bytes =
        ZSTD_decompressDCtx(reader_.get(), output.data(), output.size(), block.data(), block.size());
    if (ZSTD_isError(bytes) != 0 && ZSTD_getErrorCode(bytes) == ZSTD_error_memory_allocation)
      throw_no_memory_for_zstd();
    return bytes == output.size();
  }

  std::size_t bound(std::size_t content_bytes) const override { return ZSTD_compressBound(content_bytes); }
  std::optional<std::size_t> compress(std::span<const std::byte> content, int level, int /*acceleration*/,
                                      std::span<std::byte> room) override {
    if (!writer_) writer_.reset(ZSTD_createCCtx());
    if (!writer_) throw_no_memory_for_zstd();
    const std::size_t bytes =
        ZSTD_compressCCtx(writer_.get(), room.data(), room.size(), content.data(), content.size(), level);
    if (ZSTD_isError(bytes) != 0 && ZSTD_getErrorCode(bytes) == ZSTD_error_dstSize_tooSmall)
      return std::nullopt;
    return checked_zstd(bytes);
  }

 private:
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> writer_{nullptr, ZSTD_freeCCtx};
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> reader_{nullptr, ZSTD_freeDCtx};
};

}  // namespace

std::unique_ptr<BlockCoder> make_zstd_block_coder() { return std::make_unique<ZstdBlockCoder>(); }

}  // namespace hemstitch
