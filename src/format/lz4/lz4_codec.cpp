// LZ4 blocks on the processor. liblz4 compresses: its fast compressor at levels 1 and 2, its HC compressor at
// levels 3 to 12. For the twins, `acceleration` is without effect: level 1 is the fastest.
#include <fmt/format.h>
#include <lz4.h>
#include <lz4hc.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/idle_states.hpp"
#include "format/codec.hpp"
#include "format/formats.hpp"
#include "format/lz4/compress/lz4_compress_reference.hpp"
#include "format/lz4/lz4_format.hpp"
#include "format/lz4/restore/lz4_restore.hpp"
#include "format/with_history.hpp"
#include "hemstitch/memory.hpp"

namespace hemstitch {
namespace {

constexpr int kFirstHcLevel = 3;

const char* chars(std::span<const std::byte> bytes) { return reinterpret_cast<const char*>(bytes.data()); }
char* chars(std::span<std::byte> bytes) { return reinterpret_cast<char*>(bytes.data()); }

// liblz4's working memory; each part is made on first use.
struct Lz4States {
  std::unique_ptr<LZ4_stream_t, decltype(&LZ4_freeStream)> fast{nullptr, LZ4_freeStream};
  std::unique_ptr<LZ4_streamHC_t, decltype(&LZ4_freeStreamHC)> hc{nullptr, LZ4_freeStreamHC};
};

LZ4_stream_t* fast_state(Lz4States& states) {
  if (!states.fast) states.fast.reset(LZ4_createStream());
  if (!states.fast) throw Error(Status::kOutOfMemory, "no memory for LZ4's working state");
  return states.fast.get();
}

LZ4_streamHC_t* hc_state(Lz4States& states) {
  if (!states.hc) states.hc.reset(LZ4_createStreamHC());
  if (!states.hc) throw Error(Status::kOutOfMemory, "no memory for LZ4's working state");
  return states.hc.get();
}

int compress_fast(const BlockTask& task, const EncodeParameters& parameters, LZ4_stream_t* state) {
  const int acceleration = parameters.acceleration + 1;
  const int input_bytes = static_cast<int>(task.input.size()), room = static_cast<int>(task.output.size());
  if (task.history.empty())
    return LZ4_compress_fast_extState(state, chars(task.input), chars(task.output), input_bytes, room,
                                      acceleration);
  LZ4_loadDict(state, chars(task.history), static_cast<int>(task.history.size()));
  return LZ4_compress_fast_continue(state, chars(task.input), chars(task.output), input_bytes, room,
                                    acceleration);
}

int compress_hc(const BlockTask& task, const EncodeParameters& parameters, LZ4_streamHC_t* state) {
  const int input_bytes = static_cast<int>(task.input.size()), room = static_cast<int>(task.output.size());
  LZ4_resetStreamHC_fast(state, parameters.level);
  if (!task.history.empty())
    LZ4_loadDictHC(state, chars(task.history), static_cast<int>(task.history.size()));
  return LZ4_compress_HC_continue(state, chars(task.input), chars(task.output), input_bytes, room);
}

template <class Restore>
void restore_lz4_each(std::span<BlockTask> tasks, const Restore& restore) {
  for (BlockTask& task : tasks) {
    const DecodedBlock decoded = restore(task.input, task.history, task.output);
    task.status = decoded.status == Status::kOk ? Status::kOk : Status::kCorruptBlock;
    task.output_bytes = decoded.bytes;
  }
}

// Blocks by themselves, compressed by the codec that made it.
class Lz4BlockCoder : public BlockCoder {
 public:
  explicit Lz4BlockCoder(const Codec& codec) : codec_(codec) {}

  bool restore(std::span<const std::byte> block, std::span<std::byte> output) override {
    const DecodedBlock decoded = restore_lz4_block(block, {}, output);
    return decoded.status == Status::kOk && decoded.bytes == output.size();
  }

  std::size_t bound(std::size_t content_bytes) const override { return lz4_block_bound(content_bytes); }
  // liblz4 ends early where there is too little room.
  std::optional<std::size_t> compress(std::span<const std::byte> content, int level, int acceleration,
                                      std::span<std::byte> room) override {
    BlockTask task{
        .input = content, .history = {}, .output = room.first(std::min(room.size(), bound(content.size())))};
    codec_.compress({&task, 1}, {.format = Format::kLz4, .level = level, .acceleration = acceleration});
    return task.status == Status::kOk ? std::optional(task.output_bytes) : std::nullopt;
  }

 private:
  const Codec& codec_;
};

class Lz4Codec : public Codec {
 public:
  std::string library() const override { return fmt::format("liblz4 {}", LZ4_versionString()); }

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) const override {
    const auto states = states_.borrow();
    for (BlockTask& task : tasks) {
      const int written = parameters.level < kFirstHcLevel
                              ? compress_fast(task, parameters, fast_state(*states))
                              : compress_hc(task, parameters, hc_state(*states));
      task.output_bytes = static_cast<std::size_t>(written);
      task.status = written > 0 ? Status::kOk : Status::kOutputTooSmall;
    }
  }

  void restore(std::span<BlockTask> tasks) const override { restore_lz4_each(tasks, restore_lz4_block); }
  std::unique_ptr<BlockCoder> make_block_coder() const override {
    return std::make_unique<Lz4BlockCoder>(*this);
  }

 private:
  mutable IdleStates<Lz4States> states_;
};

class Lz4ReferenceCodec : public Codec {
 public:
  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) const override {
    const Lz4Level level = lz4_level(parameters.level, parameters.block_bytes);
    compress_with_history(tasks, [&](const FinderInput& input, std::span<std::byte> output) {
      return compress_lz4_block_reference(input, level, output);
    });
  }

  void restore(std::span<BlockTask> tasks) const override {
    restore_lz4_each(tasks, restore_lz4_block_reference);
  }
};

}  // namespace

std::vector<FormatRow> make_lz4_formats() {
  std::vector<FormatRow> rows;
  rows.push_back({.format = make_lz4_format(),
                  .processor = std::make_unique<Lz4Codec>(),
                  .reference = std::make_unique<Lz4ReferenceCodec>()});
  return rows;
}

}  // namespace hemstitch
