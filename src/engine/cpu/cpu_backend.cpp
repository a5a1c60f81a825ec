#include "engine/cpu/cpu_backend.hpp"

#include <fmt/format.h>
#include <libdeflate.h>
#include <lz4.h>
#include <lz4hc.h>

#include <mutex>
#include <utility>
#include <vector>

#include "format/deflate/compress/deflate_compress_cpu.hpp"
#include "format/deflate/deflate_formats.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "format/deflate/stream/deflate_decoder.hpp"
#include "format/lz4/restore/lz4_restore.hpp"

namespace hemstitch {
namespace {

constexpr int kFirstHcLevel = 3;
// Several small blocks travel in one batch, so that passing it on costs little compared with its work.
constexpr std::size_t kBatchBytes = 256 << 10;

const char* chars(std::span<const std::byte> bytes) { return reinterpret_cast<const char*>(bytes.data()); }
char* chars(std::span<std::byte> bytes) { return reinterpret_cast<char*>(bytes.data()); }

// The working memory of the libraries; each part is made on first use.
struct States {
  std::unique_ptr<LZ4_stream_t, decltype(&LZ4_freeStream)> fast{nullptr, LZ4_freeStream};
  std::unique_ptr<LZ4_streamHC_t, decltype(&LZ4_freeStreamHC)> hc{nullptr, LZ4_freeStreamHC};
  std::unique_ptr<DeflateCompressorCpu> deflate;
};

LZ4_stream_t* fast_state(States& states) {
  if (!states.fast) states.fast.reset(LZ4_createStream());
  if (!states.fast) throw Error(Status::kOutOfMemory, "no memory for LZ4's working state");
  return states.fast.get();
}

LZ4_streamHC_t* hc_state(States& states) {
  if (!states.hc) states.hc.reset(LZ4_createStreamHC());
  if (!states.hc) throw Error(Status::kOutOfMemory, "no memory for LZ4's working state");
  return states.hc.get();
}

// The states that nobody uses at the moment: to make new ones costs more than to compress a short input. They
// are not thread_local, since glibc ends the process if it has no memory to note that a thread has something
// to destroy.
class IdleStates {
 public:
  static IdleStates& instance() {
    static auto* const idle = new IdleStates;  // never destroyed: threads may work while the process ends
    return *idle;
  }

  std::unique_ptr<States> take() {
    const std::scoped_lock lock(mutex_);
    if (idle_.empty()) {
      idle_.reserve(made_ + 1);  // so that give_back() needs no memory
      auto states = std::make_unique<States>();
      ++made_;
      return states;
    }
    std::unique_ptr<States> states = std::move(idle_.back());
    idle_.pop_back();
    return states;
  }

  void give_back(std::unique_ptr<States> states) noexcept {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(states));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<States>> idle_;
  std::size_t made_ = 0;
};

class BorrowedStates {
 public:
  BorrowedStates() : states_(IdleStates::instance().take()) {}
  ~BorrowedStates() { IdleStates::instance().give_back(std::move(states_)); }
  BorrowedStates(const BorrowedStates&) = delete;
  BorrowedStates& operator=(const BorrowedStates&) = delete;

  States& operator*() const { return *states_; }

 private:
  std::unique_ptr<States> states_;
};

class CpuEngine : public BlockEngine {
 public:
  std::size_t preferred_batch_bytes() const override { return kBatchBytes; }
  unsigned preferred_batches_in_flight(unsigned threads) const override { return 2 * threads + 1; }

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) override {
    const BorrowedStates states;
    if (is_deflate(parameters.format)) return compress_deflate(tasks, parameters, *states);
    for (BlockTask& task : tasks) {
      const int written = parameters.level < kFirstHcLevel
                              ? compress_fast(task, parameters, fast_state(*states))
                              : compress_hc(task, parameters, hc_state(*states));
      task.output_bytes = static_cast<std::size_t>(written);
      task.status = written > 0 ? Status::kOk : Status::kOutputTooSmall;
    }
  }

  void restore(std::span<BlockTask> tasks, Format format) override {
    if (is_deflate(format)) return restore_deflate(tasks);
    for (BlockTask& task : tasks) {
      const DecodedBlock decoded = restore_lz4_block(task.input, task.history, task.output);
      // A block that restores to more than its frame allows is damaged.
      task.status = decoded.status == Status::kOk ? Status::kOk : Status::kCorruptBlock;
      task.output_bytes = decoded.bytes;
    }
  }

  StreamMemory stream_memory(Format format, const StreamMeans& means) const override {
    return is_deflate(format) ? deflate_stream_memory(means) : StreamMemory();
  }

  std::unique_ptr<StreamDecoder> make_stream_decoder(Format format, std::span<const std::byte> history,
                                                     const StreamMeans& means) override {
    return is_deflate(format) ? make_deflate_decoder(history, format == Format::kGzip, means) : nullptr;
  }

 private:
  // Blocks that do not shrink are stored, so every block fits into its room.
  static void compress_deflate(std::span<BlockTask> tasks, const EncodeParameters& parameters,
                               States& states) {
    if (!states.deflate) states.deflate = std::make_unique<DeflateCompressorCpu>();
    for (BlockTask& task : tasks) {
      task.output_bytes = states.deflate->compress(task.input, task.history, parameters.level,
                                                   parameters.format == Format::kBgzf, task.output);
      task.status = Status::kOk;
    }
  }

  static void restore_deflate(std::span<BlockTask> tasks) {
    const auto decoder = std::make_unique<DeflateDecoder>(std::span<const std::byte>());
    for (BlockTask& task : tasks) {
      const DeflateRestored restored = decoder->restore_whole(task.input, task.history, task.output);
      task.status = deflate_block_status(restored, task.input.size());
      task.output_bytes = restored.output_bytes;
    }
  }

  static int compress_fast(const BlockTask& task, const EncodeParameters& parameters, LZ4_stream_t* state) {
    const int acceleration = parameters.acceleration + 1;
    const int input_bytes = static_cast<int>(task.input.size()), room = static_cast<int>(task.output.size());
    if (task.history.empty())
      return LZ4_compress_fast_extState(state, chars(task.input), chars(task.output), input_bytes, room,
                                        acceleration);
    LZ4_loadDict(state, chars(task.history), static_cast<int>(task.history.size()));
    return LZ4_compress_fast_continue(state, chars(task.input), chars(task.output), input_bytes, room,
                                      acceleration);
  }

  static int compress_hc(const BlockTask& task, const EncodeParameters& parameters, LZ4_streamHC_t* state) {
    const int input_bytes = static_cast<int>(task.input.size()), room = static_cast<int>(task.output.size());
    LZ4_resetStreamHC_fast(state, parameters.level);
    if (!task.history.empty())
      LZ4_loadDictHC(state, chars(task.history), static_cast<int>(task.history.size()));
    return LZ4_compress_HC_continue(state, chars(task.input), chars(task.output), input_bytes, room);
  }
};

class CpuBackend : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::string description(std::string_view) const override {
    return fmt::format("liblz4 {} and libdeflate {} on all cores", LZ4_versionString(),
                       LIBDEFLATE_VERSION_STRING);
  }
  std::optional<std::string> unavailable_reason(std::string_view) const override { return std::nullopt; }
  bool chosen_by_auto() const override { return false; }  // `auto` takes it only if nothing else will do
  std::string_view fallback_name() const override { return "cpu"; }
  bool supports(Format format, Direction) const override {
    return format == Format::kLz4 || is_deflate(format);
  }
  bool restores_streams() const override { return true; }
  std::unique_ptr<BlockEngine> make_engine(std::string_view) const override {
    return std::make_unique<CpuEngine>();
  }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace hemstitch
