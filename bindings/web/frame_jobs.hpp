// Writes and reads frames in batches of blocks. The bytes around the blocks are made here. The blocks are
// made by jobs for the device, which each format plans in a class of its own (lz4_jobs.hpp, gzip_jobs.hpp).
//
// The caller fills room() and executes the jobs that it gets; the next call finishes each job. Memory is
// bounded by the batch, however long the frames are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/checksum.hpp"
#include "format/formats.hpp"
#include "job_text.hpp"

namespace hemstitch::web {

constexpr std::size_t whole_words(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

// The most positions of a batch: its largest buffers have a word for each.
std::uint64_t most_positions(const Limits& limits);

class FrameCompression {
 public:
  virtual ~FrameCompression() = default;

  // Where to put content; never empty. Valid until filled() says how much was put there.
  std::span<std::byte> room();
  void filled(std::size_t bytes);
  // Whether there is a batch; at the end of the content, all that is left is one. If so, execute job() and
  // call finish_job().
  bool next_job(bool at_end);
  // Empty if the device has nothing to do.
  const std::string& job() const { return job_; }
  // Adds the batch to the output.
  void finish_job();
  // After the last job: writes the end of the frame.
  void finish();
  // The output of the calls since the last time.
  std::vector<std::byte> take_output() { return std::exchange(output_, {}); }

 protected:
  // A block of the batch: where its history begins in the device's data; the block follows it.
  struct Block {
    std::uint32_t begin = 0, history_bytes = 0, bytes = 0, room_bytes = 0;
    std::size_t content_at = 0;  // in content_
  };
  // Where a plan finds the blocks' data, and puts the results.
  struct Parts {
    webgpu::BufferId data, sizes, begins, output;
  };

  // Throws kInvalidOption.
  explicit FrameCompression(const CompressOptions& options);
  // A batch takes about `batch_bytes` of content, at least a block; each block counts as so many positions.
  void begin(std::uint64_t batch_bytes, std::uint64_t positions_a_block, const Limits& limits);
  // Makes the job for these blocks with make_job(). Their output takes at most `output_bytes`.
  virtual void plan_job(std::span<const Block> blocks, std::size_t output_bytes) = 0;
  // `tables` must stay unchanged until the job is done.
  void make_job(const webgpu::BufferPlan& buffers, const Parts& parts, const std::vector<Transfer>& tables,
                const webgpu::Recording& recording);

  // Without a device, in the place of make_job(): the content of a block with its history, and where its data goes.
  std::span<const std::byte> with_history(const Block& block) const {
    return std::span(content_).subspan(block.content_at - block.history_bytes,
                                       block.history_bytes + block.bytes);
  }
  // Room for the data of the block with this number, and how much of it was used; nothing: the data does not fit.
  std::span<std::byte> encoded_room(std::size_t number, std::size_t begin, std::size_t bytes);
  void encoded(std::size_t number, std::optional<std::size_t> bytes);

  const CompressOptions& options() const { return options_; }
  const FrameWriter& writer() const { return *writer_; }

 private:
  void add_block(const FrameWriter::Block& block);

  CompressOptions options_;
  std::unique_ptr<FrameWriter> writer_;
  Limits limits_;
  std::size_t batch_bytes_ = 0;
  std::size_t held_bytes_ = 0;  // of the batch after a full one: the last byte may be a block of its own
  std::optional<RunningChecksum> content_checksum_;
  std::uint64_t content_bytes_ = 0;
  std::vector<std::byte> content_;  // history, then the batch, and room after it for whole words
  std::size_t history_bytes_ = 0;
  std::size_t filled_bytes_ = 0;  // after the history

  FrameLayout layout_;  // of the job's content
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> sizes_, begins_;
  std::vector<std::byte> encoded_;
  std::string job_;

  std::vector<std::byte> output_;
};

class FrameRestoring {
 public:
  virtual ~FrameRestoring() = default;

  // Where to put the next bytes of the stream, all of them before another call.
  std::span<std::byte> room(std::size_t bytes);
  enum class Next { kMoreInput, kJob, kEnd };
  // Continues to read. Throws Error with the place.
  Next next(bool at_end);
  // Empty if the device has nothing to do.
  const std::string& job() const { return job_; }
  // After the job was executed: adds the restored content to the output. Throws Error with the place of
  // damage.
  void finish_job();
  std::vector<std::byte> take_output() { return std::exchange(output_, {}); }
  // For a decoder that throws what it finds damaged: throws Error with the place.
  [[noreturn]] void fail_stream(std::string_view rule);

 protected:
  // A block that the device restored.
  struct Result {
    Status status = Status::kOk;
    std::size_t bytes = 0;
    std::size_t begin = 0, room_bytes = 0;  // in restored()
  };

  // The most content that a byte of a block's data can stand for.
  FrameRestoring(Format format, std::uint64_t most_expansion, bool verify_checksums,
                 std::uint64_t batch_bytes, const Limits& limits);

  virtual void add_block(std::uint32_t history_bytes, std::uint32_t data_bytes, std::uint32_t room_bytes) = 0;
  virtual std::size_t output_bytes() const = 0;  // of the blocks that were added
  virtual void plan_job() = 0;                   // for these blocks
  // For the block with this number, after the job. Its content is in restored(), or is put there by this
  // call.
  virtual Result result(std::size_t number) = 0;
  virtual void clear_blocks() = 0;
  // For frames that are one stream.
  virtual std::unique_ptr<StreamDecoder> make_decoder(const FrameHeader&, const Place&) const {
    return nullptr;
  }

  // The blocks that were added, each after its history, from a whole word on.
  const std::vector<std::byte>& data() const { return data_; }
  std::vector<std::byte>& restored() { return restored_; }
  const Limits& limits() const { return limits_; }
  void set_job(std::string job) { job_ = std::move(job); }

 private:
  struct Block {
    Place place;
    bool stored = false;
    std::size_t begin = 0, bytes = 0;  // in stored_; for others the number among those added
    std::optional<std::uint32_t> content_checksum, content_bytes;
  };

  void begin_frame();
  bool take_block(std::span<const std::byte> data);
  std::optional<Next> restore_stream(bool at_end);
  void end_frame();
  void make_job();
  void add_content(std::span<const std::byte> content);
  void verify_content(const Block& block, std::span<const std::byte> content) const;

  std::uint64_t most_expansion_;
  bool verify_checksums_;
  std::uint64_t batch_bytes_;
  Limits limits_;
  FrameStream stream_;
  std::vector<std::byte> input_;
  std::size_t taken_bytes_ = 0;   // of input_
  std::uint64_t skip_bytes_ = 0;  // of a skippable frame, still to come
  std::uint64_t skipped_bytes_ = 0;

  FrameHeader header_;  // of the frame whose blocks are collected
  Place frame_place_;
  std::uint64_t frame_content_bytes_ = 0;
  std::optional<RunningChecksum> content_checksum_;
  std::vector<std::byte> history_;  // for linked blocks
  bool frame_has_ended_ = false;    // after the blocks of the batch
  std::optional<Error>
      failure_;  // after them: the blocks before a damaged one come first, and may be damaged themselves

  std::unique_ptr<StreamDecoder> decoder_;
  std::optional<StreamStep> damage_;  // of a stream, after the content that comes first

  std::vector<Block> blocks_;
  std::size_t added_blocks_ = 0;
  std::vector<std::byte> data_, stored_, restored_;
  std::string job_;
  std::vector<std::byte> output_;
};

}  // namespace hemstitch::web
