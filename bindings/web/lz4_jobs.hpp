// Jobs for the blocks of LZ4 frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/lz4/compress/lz4_compress_webgpu.hpp"
#include "format/lz4/restore/lz4_restore_webgpu.hpp"
#include "frame_jobs.hpp"

namespace hemstitch::web {

class Lz4Compression : public FrameCompression {
 public:
  // Throws kInvalidOption.
  Lz4Compression(const CompressOptions& options, std::uint64_t batch_bytes, const Limits& limits);

 private:
  void plan_job(std::span<const Block> blocks, std::size_t output_bytes) override;

  webgpu::BlockTable table_;
};

class Lz4Restoring : public FrameRestoring {
 public:
  Lz4Restoring(bool verify_checksums, std::uint64_t batch_bytes, const Limits& limits);

 private:
  void add_block(std::uint32_t history_bytes, std::uint32_t data_bytes, std::uint32_t room_bytes) override;
  std::size_t output_bytes() const override;
  void plan_job() override;
  Result result(std::size_t number) override;
  void clear_blocks() override { table_ = {}; }

  webgpu::Lz4RestoreTable table_;
  std::vector<webgpu::Lz4RestoreResult> results_;
};

}  // namespace hemstitch::web
