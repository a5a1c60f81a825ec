#include "format/zstd/compress/zstd_stream_encoder.hpp"

#include <algorithm>

#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/restore/zstd_dictionary.hpp"
#include "format/zstd/zstd_library.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {
namespace {

void set(ZSTD_CCtx* context, ZSTD_cParameter parameter, int value) {
  checked_zstd(ZSTD_CCtx_setParameter(context, parameter, value));
}

}  // namespace

ZstdStreamEncoder::ZstdStreamEncoder(const StreamEncoding& encoding)
    : context_(ZSTD_createCCtx(), ZSTD_freeCCtx), window_bytes_(std::uint64_t{1} << encoding.window_log) {
  if (!context_) throw_no_memory_for_zstd();
  // 0 if libzstd was built without threads: then the calling one does all.
  const int most_threads = ZSTD_cParam_getBounds(ZSTD_c_nbWorkers).upperBound;
  ZSTD_CCtx* const context = context_.get();
  set(context, ZSTD_c_compressionLevel, encoding.level);
  set_zstd_window(context, encoding.window_log);
  set(context, ZSTD_c_nbWorkers,
      static_cast<int>(std::min<unsigned>(encoding.threads, static_cast<unsigned>(most_threads))));
  // As a prefix, content alone is searched for long matches with the content's own.
  if (!encoding.dictionary.empty() && !has_zstd_tables(encoding.dictionary))
    checked_zstd(ZSTD_CCtx_refPrefix(context, encoding.dictionary.data(), encoding.dictionary.size()));
  else if (!encoding.dictionary.empty())
    checked_zstd(ZSTD_CCtx_loadDictionary(context, encoding.dictionary.data(), encoding.dictionary.size()));
}

void ZstdStreamEncoder::compress(std::span<const std::byte> content, std::vector<std::byte>& output) {
  has_content_ = has_content_ || !content.empty();
  run(content, ZSTD_e_continue, output);
}

void ZstdStreamEncoder::flush(std::vector<std::byte>& output) {
  if (!has_content_) return;
  has_content_ = false;
  run({}, ZSTD_e_flush, output);
}

void ZstdStreamEncoder::run(std::span<const std::byte> content, ZSTD_EndDirective how,
                            std::vector<std::byte>& output) {
  const std::size_t step = ZSTD_CStreamOutSize();
  ZSTD_inBuffer from{content.data(), content.size(), 0};
  for (std::size_t left = 1; how == ZSTD_e_continue ? from.pos < from.size : left != 0;) {
    std::vector<std::byte>& room = head_is_left_out_ ? output : head_;
    const std::size_t begin = room.size();
    room.resize(begin + step);
    ZSTD_outBuffer to{room.data() + begin, step, 0};
    left = checked_zstd(ZSTD_compressStream2(context_.get(), &to, &from, how));
    room.resize(begin + to.pos);
    if (!head_is_left_out_) leave_out_head(output);
  }
}

void ZstdStreamEncoder::leave_out_head(std::vector<std::byte>& output) {
  if (head_.size() <= kZstdMagicBytes) return;
  const std::size_t head_bytes = kZstdMagicBytes + zstd_header_rest_bytes(head_[kZstdMagicBytes]);
  if (head_.size() < head_bytes) return;
  output.insert(output.end(), head_.begin() + static_cast<std::ptrdiff_t>(head_bytes), head_.end());
  head_ = {};
  head_is_left_out_ = true;
}

}  // namespace hemstitch
