#include "engine/reference/reference_backend.hpp"

#include <vector>

#include "format/deflate/compress/deflate_compress_reference.hpp"
#include "format/deflate/deflate_formats.hpp"
#include "format/deflate/restore/deflate_restore_reference.hpp"
#include "format/lz4/compress/lz4_compress_reference.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"

namespace hemstitch {
namespace {

// Several small blocks travel in one batch, so that passing it on costs little compared with its work.
constexpr std::size_t kReferenceBatchBytes = std::size_t{256} * 1024;

class ReferenceEngine : public BlockEngine {
 public:
  std::size_t preferred_batch_bytes() const override { return kReferenceBatchBytes; }
  unsigned preferred_batches_in_flight(unsigned threads) const override { return 2 * threads + 1; }

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) override {
    if (is_deflate(parameters.format)) return compress_deflate(tasks, parameters);
    const Lz4Level level = lz4_level(parameters.level, parameters.block_bytes);
    compress_each(tasks, [&](const FinderInput& input, std::span<std::byte> output) {
      return compress_lz4_block_reference(input, level, output);
    });
  }

  // A block that restores to more than its frame allows is damaged: the frame limits the room, not the
  // caller.
  void restore(std::span<BlockTask> tasks, Format format) override {
    if (is_deflate(format)) return restore_deflate(tasks);
    for (BlockTask& task : tasks) {
      const DecodedBlock decoded = restore_lz4_block_reference(task.input, task.history, task.output);
      task.status = decoded.status == Status::kOk ? Status::kOk : Status::kCorruptBlock;
      task.output_bytes = decoded.bytes;
    }
  }

  std::unique_ptr<StreamDecoder> make_stream_decoder(Format format, std::span<const std::byte> history,
                                                     const StreamMeans& means) override {
    if (!is_deflate(format) || means.points) return nullptr;
    return std::make_unique<DeflateReferenceDecoder>(history);
  }

 private:
  static void compress_deflate(std::span<BlockTask> tasks, const EncodeParameters& parameters) {
    const DeflateLevel level = deflate_level(parameters.level);
    const DeflateEnd end = deflate_end_of_blocks(parameters.format);
    compress_each(tasks, [&](const FinderInput& input, std::span<std::byte> output) {
      return compress_deflate_block_reference(input, level, end, output);
    });
  }

  template <typename Compress>
  static void compress_each(std::span<BlockTask> tasks, const Compress& compress) {
    std::vector<std::byte> joined;  // history and block, one after the other, as finders expect
    for (BlockTask& task : tasks) {
      FinderInput input{task.input, 0};
      if (!task.history.empty()) {
        joined.assign(task.history.begin(), task.history.end());
        joined.insert(joined.end(), task.input.begin(), task.input.end());
        input = {joined, task.history.size()};
      }
      const EncodedBlock encoded = compress(input, task.output);
      task.status = encoded.status;
      task.output_bytes = encoded.bytes;
    }
  }

  static void restore_deflate(std::span<BlockTask> tasks) {
    for (BlockTask& task : tasks) {
      const DeflateRestored restored = deflate_restore_reference(task.input, task.history, task.output);
      task.status = deflate_block_status(restored, task.input.size());
      task.output_bytes = restored.output_bytes;
    }
  }
};

class ReferenceBackend : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::string description(std::string_view) const override {
    return "the definition of every byte, on all cores; slow";
  }
  std::optional<std::string> unavailable_reason(std::string_view) const override { return std::nullopt; }
  bool chosen_by_auto() const override { return false; }
  std::string_view fallback_name() const override { return "reference"; }
  bool supports(Format format, Direction) const override {
    return format == Format::kLz4 || is_deflate(format);
  }
  std::unique_ptr<BlockEngine> make_engine(std::string_view) const override {
    return std::make_unique<ReferenceEngine>();
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace hemstitch
