// Frames that are written and read without a device: their blocks are processed where they are planned, and no job is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "frame_jobs.hpp"

namespace hemstitch::web {

// LZ4, gzip or BGZF by the twins, whose bytes a device writes as well.
class CpuCompression : public FrameCompression {
 public:
  CpuCompression(const CompressOptions& options, std::uint64_t batch_bytes, const Limits& limits);

 private:
  void plan_job(std::span<const Block> blocks, std::size_t output_bytes) override;
};

class CpuRestoring : public FrameRestoring {
 public:
  // LZ4, gzip with BGZF, or Zstandard.
  CpuRestoring(Format format, bool verify_checksums, std::uint64_t batch_bytes, const Limits& limits);

 private:
  struct Row {
    std::size_t begin = 0, history_bytes = 0, data_bytes = 0;  // in data()
    std::size_t output_begin = 0, room_bytes = 0;              // in restored()
  };

  void add_block(std::uint32_t history_bytes, std::uint32_t data_bytes, std::uint32_t room_bytes) override;
  std::size_t output_bytes() const override { return output_bytes_; }
  void plan_job() override {}
  Result result(std::size_t number) override;
  void clear_blocks() override;
  std::unique_ptr<StreamDecoder> make_decoder(const FrameHeader& header, const Place& place) const override;

  Format format_;
  std::vector<Row> rows_;
  std::size_t data_bytes_ = 0, output_bytes_ = 0;
};

}  // namespace hemstitch::web
