// Compresses a frame in parts that end where the content says so (format/content_cuts.hpp), each without what comes
// before it: CompressOptions::rsyncable. It keeps content until it has parts for all threads of the caller's arena,
// which compress them; where they are cut, and so the bytes, does not depend on that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/block_task.hpp"
#include "format/codec.hpp"
#include "format/content_cuts.hpp"
#include "format/stream_encoder.hpp"

namespace hemstitch {

class CutEncoder : public StreamEncoder {
 public:
  // `room_bytes(n)` is the room for the data of a part of n bytes. The codec must outlive the encoder.
  CutEncoder(const Codec& codec, const EncodeParameters& parameters, const ContentCuts& cuts,
             std::size_t (*room_bytes)(std::size_t content_bytes), unsigned threads);

  std::uint64_t window_bytes() const override { return kept_bytes_ + cuts_.most_bytes; }
  void compress(std::span<const std::byte> content, std::vector<std::byte>& output) override;
  void flush(std::vector<std::byte>& output) override;

 private:
  // Cuts what has come; with `all`, its end is one, too.
  void cut(bool all);
  void encode(std::vector<std::byte>& output);

  const Codec& codec_;
  EncodeParameters parameters_;
  ContentCuts cuts_;
  std::size_t (*room_bytes_)(std::size_t);
  unsigned threads_;
  std::size_t kept_bytes_;
  std::vector<std::byte> content_;  // parts, then what is not cut yet
  std::vector<std::size_t> parts_;  // their sizes
  std::size_t cut_bytes_ = 0;       // of the parts
};

}  // namespace hemstitch
