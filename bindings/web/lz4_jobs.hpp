// LZ4 frames written and read by batches of blocks: what stands around the blocks is made here, the blocks by jobs for the device.
//
// The caller fills room() with what comes, and executes the jobs that are handed out; each is finished by the call after it. Memory is
// bounded by the batch, however long the frames are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/checksum.hpp"
#include "format/formats.hpp"
#include "format/lz4/compress/lz4_compress_webgpu.hpp"
#include "format/lz4/restore/lz4_restore_webgpu.hpp"
#include "job_text.hpp"

namespace hemstitch::web {

class Lz4Writer {
 public:
  // A batch takes about `batch_bytes` of content, at least a block. Throws kInvalidOption.
  Lz4Writer(CompressOptions options, std::uint64_t batch_bytes, const Limits& limits);

  // Where to put content: never empty. The place stays until filled() says how much was put there.
  std::span<std::byte> room();
  void filled(std::size_t bytes);
  // Whether there is a batch (at the end of the content: whatever is left): then job() is to be done, and finish_job() called.
  bool next_job(bool at_end);
  // Empty where the device has nothing to do.
  const std::string& job() const { return job_; }
  // Adds the batch to the output.
  void finish_job();
  // Behind the last job: the end of the frame.
  void finish();
  // What came out of the calls since the last one.
  std::vector<std::byte> take_output() { return std::exchange(output_, {}); }

 private:
  void add_block(const FrameWriter::Block& block);

  CompressOptions options_;
  std::unique_ptr<FrameWriter> writer_;
  Limits limits_;
  std::size_t batch_bytes_ = 0;
  std::size_t held_bytes_ = 0;  // of the batch behind a full one: the last byte may be a block of its own
  std::optional<RunningChecksum> content_checksum_;
  std::uint64_t content_bytes_ = 0;
  std::vector<std::byte> content_;  // of the batch, and room behind it for whole words
  std::size_t filled_bytes_ = 0;

  FrameLayout layout_;  // of the job's content
  webgpu::BlockTable table_;
  std::vector<std::uint32_t> sizes_, begins_;
  std::vector<std::byte> encoded_;
  std::string job_;

  std::vector<std::byte> output_;
};

class Lz4Reader {
 public:
  Lz4Reader(bool verify_checksums, std::uint64_t batch_bytes, const Limits& limits);

  // Where to put the next bytes of the stream, all of them before another call.
  std::span<std::byte> room(std::size_t bytes);
  enum class Next { kMoreInput, kJob, kEnd };
  // Reads on. Throws Error with the place.
  Next next(bool at_end);
  // Empty where the device has nothing to do.
  const std::string& job() const { return job_; }
  // After the job was done: adds what it restored to the output. Throws Error with the place of what is damaged.
  void finish_job();
  std::vector<std::byte> take_output() { return std::exchange(output_, {}); }

 private:
  struct Block {
    Place place;
    bool stored = false;
    std::size_t begin = 0, bytes = 0;  // in stored_, or a row of the table
  };

  void begin_frame();
  bool take_block(std::span<const std::byte> data);
  void end_frame();
  void make_job();
  void add_content(std::span<const std::byte> content);

  bool verify_checksums_;
  std::uint64_t batch_bytes_;
  Limits limits_;
  FrameStream stream_;
  std::vector<std::byte> input_;
  std::size_t taken_bytes_ = 0;   // of input_
  std::uint64_t skip_bytes_ = 0;  // of a skippable frame, that are still to come
  std::uint64_t skipped_bytes_ = 0;

  FrameHeader header_;  // of the frame whose blocks are collected
  Place frame_place_;
  std::uint64_t frame_content_bytes_ = 0;
  std::optional<RunningChecksum> content_checksum_;
  std::vector<std::byte> history_;  // of linked blocks
  bool frame_has_ended_ = false;    // behind the blocks of the batch
  std::optional<Error>
      failure_;  // behind them: the blocks before a damaged one come first, and may be damaged themselves

  std::vector<Block> blocks_;
  webgpu::RestoreTable table_;
  std::vector<std::byte> data_, stored_, restored_;
  std::vector<webgpu::RestoreResult> results_;
  std::string job_;
  std::vector<std::byte> output_;
};

}  // namespace hemstitch::web
