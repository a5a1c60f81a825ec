// Compresses a whole frame of Zstandard by libzstd with its own threads: matches reach as far back as a window of any size.
//
// libzstd cuts the content into jobs, whose size follows from level and window. One thread at a time searches for long
// matches, in the content's order, and all of them compress jobs. So the bytes do not depend on how many there are. A libzstd that was
// built without threads, as Debian's archive is, cuts nothing and writes other bytes.
#pragma once

#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "format/stream_encoder.hpp"

namespace hemstitch {

class ZstdStreamEncoder : public StreamEncoder {
 public:
  explicit ZstdStreamEncoder(const StreamEncoding& encoding);

  std::uint64_t window_bytes() const override { return window_bytes_; }
  void compress(std::span<const std::byte> content, std::vector<std::byte>& output) override;
  void flush(std::vector<std::byte>& output) override;

 private:
  void leave_out_head(std::vector<std::byte>& output);
  void run(std::span<const std::byte> content, ZSTD_EndDirective how, std::vector<std::byte>& output);

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
  std::uint64_t window_bytes_;
  bool has_content_ = false;     // since the last flush
  std::vector<std::byte> head_;  // what came of libzstd's header, which is left out
  bool head_is_left_out_ = false;
};

}  // namespace hemstitch
