// Jobs for the blocks of gzip and BGZF. Those of a gzip member are parts of one stream, which a device
// compresses in parallel. It restores the blocks of BGZF, each of which is a member. A member whose end is
// not known is restored here, on the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "format/deflate/compress/deflate_compress_webgpu.hpp"
#include "format/deflate/restore/deflate_restore_webgpu.hpp"
#include "frame_jobs.hpp"

namespace hemstitch::web {

class GzipCompression : public FrameCompression {
 public:
  // Format::kGzip or kBgzf. Throws kInvalidOption.
  GzipCompression(const CompressOptions& options, std::uint64_t batch_bytes, const Limits& limits);

 private:
  void plan_job(std::span<const Block> blocks, std::size_t output_bytes) override;

  webgpu::DeflateCompressTable table_;
};

class GzipRestoring : public FrameRestoring {
 public:
  GzipRestoring(bool verify_checksums, std::uint64_t batch_bytes, const Limits& limits);

 private:
  void add_block(std::uint32_t history_bytes, std::uint32_t data_bytes, std::uint32_t room_bytes) override;
  std::size_t output_bytes() const override;
  void plan_job() override;
  Result result(std::size_t number) override;
  void clear_blocks() override { table_ = {}; }
  std::unique_ptr<StreamDecoder> make_decoder(const FrameHeader&, const Place&) const override;

  webgpu::DeflateRestoreTable table_;
  std::vector<webgpu::DeflateRestoreState> states_;
};

}  // namespace hemstitch::web
