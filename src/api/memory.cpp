#include "hemstitch/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "api/report.hpp"
#include "api/sinks.hpp"
#include "core/options.hpp"
#include "core/overlap.hpp"
#include "core/parallel.hpp"
#include "pipeline/frame_batch.hpp"
#include "pipeline/ring.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {
namespace {

// A thread takes so many blocks in a row, or fewer if they have so many bytes.
constexpr std::size_t kBlocksInARow = 64;
constexpr std::size_t kBytesInARow = std::size_t{1} << 18;
constexpr std::size_t kMostLz4InputBytes = 0x7E000000;

StreamHooks hooks_of(const Progress& progress) {
  StreamHooks hooks;
  hooks.progress = progress;
  return hooks;
}

void restore_all(std::span<const std::byte> input, Sink& sink, const RestoreOptions& options,
                 const Progress& progress) {
  MemorySource source(input);
  report_end(restore_stream(source, sink, options, hooks_of(progress)), options);
}

// Looks between pieces whenever some are read.
class WatchedSource : public MemorySource {
 public:
  WatchedSource(std::span<const std::byte> bytes, const BetweenPieces& between_pieces)
      : MemorySource(bytes), between_pieces_(between_pieces) {}
  std::size_t read(std::span<std::byte> into) override {
    if (between_pieces_) between_pieces_();
    return MemorySource::read(into);
  }

 private:
  const BetweenPieces& between_pieces_;
};

// A stream makes buffers of whole blocks, however short its input is. Up to this size that would cost more
// than the work.
constexpr std::size_t kShortBytes = std::size_t{64} << 10;

// A buffer of the caller's as a LargeBuffer, which must not outlive it.
LargeBuffer as_buffer(std::span<std::byte> room) {
  return LargeBuffer(std::shared_ptr<std::byte>(std::shared_ptr<void>(), room.data()));
}

// Writes directly into the room what a stream would write. Returns nothing if only a stream can do it.
std::optional<std::size_t> compress_short(std::span<const std::byte> input, std::span<std::byte> output,
                                          const CompressOptions& options) {
  // libdeflate reads its input twice, so other threads must not change it in between; a stream copies its
  // input.
  if (options.format != Format::kLz4 || options.verify || input.empty() || input.size() > kShortBytes ||
      output.size() < compress_bound(input.size(), options.format))
    return std::nullopt;
  FrameCompressor frames(options, {.content_bytes = input.size(), .inputs = 1}, input.size());
  if (frames.input_cost(input.size()) > frames.input_bytes()) return std::nullopt;
  LargeBuffer room = as_buffer(output);
  return frames.compress({&input, 1}, room).front().size();
}

// Restores what a stream would restore. Returns nothing if only a stream can do it.
std::optional<std::size_t> restore_short(std::span<const std::byte> input, const RestoreOptions& options,
                                         const Output& output) {
  if (options.format.value_or(Format::kLz4) != Format::kLz4 || input.empty() || input.size() > kShortBytes)
    return std::nullopt;
  FrameRestorer frames(options, {.content_bytes = kShortBytes, .inputs = 1}, input.size());
  if (input.size() > frames.input_bytes()) return std::nullopt;
  // Works on a copy, so that no other thread can change the input between two reads.
  const std::vector<std::byte> copy(input.begin(), input.end());
  const std::span<const std::byte> copied = copy;
  LargeBuffer room = frames.make_output();
  const auto restored = frames.restore({&copied, 1}, room);
  if (!restored.front().content) return std::nullopt;
  output(*restored.front().content);
  if (options.used_bytes != nullptr) *options.used_bytes = input.size();
  return restored.front().content->size();
}

// Inputs that travel together. They are copied: the engine takes them from one piece of memory, and what
// other threads write to a caller's memory meanwhile changes no block between two reads.
struct ManyBatch {
  std::span<const std::size_t> numbers;
  LargeBuffer input, output;
  std::vector<std::span<const std::byte>> copies;
};

OneOfMany failed(const Error& error) { return {error.status(), error.what(), error.place(), {}}; }

// Calls call() for inputs that are too large for a batch, or that `Frames` left: one at a time, on several
// threads if there are enough of them.
template <class Call>
void one_by_one(std::span<const std::size_t> numbers, unsigned threads, const Call& call) {
  if (threads == 1 || numbers.size() < threads) {
    for (const std::size_t number : numbers) call(number, threads);
    return;
  }
  for_pieces(threads, numbers.size(), 1, [&](std::size_t i) { call(numbers[i], 1); });
}

// Passes the inputs that fit to `frames` in batches; convert(batch) makes results of them. Returns the
// numbers of the others.
template <class Frames, class Cost, class Convert>
std::vector<std::size_t> in_batches(Frames& frames, std::span<const std::span<const std::byte>> inputs,
                                    const Cost& cost, const Convert& convert) {
  std::vector<std::size_t> numbers, left;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    (cost(inputs[i].size()) > frames.input_bytes() ? left : numbers).push_back(i);
  std::vector<ManyBatch> batches(frames.batches_in_flight());
  std::span<const std::size_t> rest = numbers;
  const auto fill = [&](ManyBatch& batch) {
    std::size_t count = 0;
    std::uint64_t room = frames.input_bytes();
    for (; count < std::min(rest.size(), frames.most_inputs()); ++count) {
      const std::uint64_t one = cost(inputs[rest[count]].size());
      if (one > room) break;
      room -= one;
    }
    batch.numbers = rest.first(count);
    rest = rest.subspan(count);
    return count != 0;
  };
  const auto work = [&](ManyBatch& batch) {
    if (batch.input.get() == nullptr) {
      batch.input = LargeBuffer(frames.input_bytes());
      batch.output = frames.make_output();
    }
    batch.copies.clear();
    std::byte* at = batch.input.get();
    for (const std::size_t number : batch.numbers) {
      const std::span<const std::byte> input = inputs[number];
      if (!input.empty()) std::memcpy(at, input.data(), input.size());
      batch.copies.emplace_back(at, input.size());
      at += input.size();
    }
    convert(batch);
  };
  run_ring(frames.threads(), batches, false, fill, work, [](ManyBatch&) {});
  return left;
}

void refuse_overlapping(std::span<const Lz4Block> blocks) {
  std::vector<std::span<const std::byte>> inputs, outputs;
  for (const Lz4Block& block : blocks) {
    inputs.push_back(block.input);
    outputs.push_back(block.output);
  }
  refuse_overlaps(inputs, outputs);
}

// Divides the blocks into stretches, each for one thread. Returns where they end.
std::vector<std::size_t> stretches(std::span<const Lz4Block> blocks) {
  std::vector<std::size_t> ends;
  std::size_t count = 0, bytes = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    bytes += std::max(blocks[i].input.size(), blocks[i].output.size());
    if (++count < kBlocksInARow && bytes < kBytesInARow && i + 1 < blocks.size()) continue;
    ends.push_back(i + 1);
    count = bytes = 0;
  }
  return ends;
}

// Calls work(tasks) for all blocks, stretch by stretch, and stores their results.
template <class Work>
void run_blocks(std::span<Lz4Block> blocks, std::span<const std::size_t> ends, unsigned threads,
                const Work& work) {
  const auto run = [&](std::size_t number) {
    const std::size_t begin = number == 0 ? 0 : ends[number - 1];
    const std::span<Lz4Block> some = blocks.subspan(begin, ends[number] - begin);
    std::vector<BlockTask> tasks(some.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      tasks[i].input = some[i].input;
      tasks[i].output = some[i].output;
    }
    work(tasks);
    for (std::size_t i = 0; i < some.size(); ++i) {
      some[i].status = tasks[i].status;
      some[i].output_bytes = tasks[i].status == Status::kOk ? tasks[i].output_bytes : 0;
    }
  };
  for_pieces(threads, ends.size(), 1, run);
}

CompressOptions with_content_bytes(const CompressOptions& options, std::span<const std::byte> input) {
  if (options.content_bytes && *options.content_bytes != input.size())
    throw Error(Status::kInvalidOption, fmt::format("content_bytes is {}, the input has {} bytes",
                                                    *options.content_bytes, input.size()));
  CompressOptions with_size = options;
  with_size.content_bytes = input.size();
  return with_size;
}

}  // namespace

std::uint64_t compress_bound(std::uint64_t input_bytes, Format format) {
  return hemstitch_compress_bound_of(static_cast<hemstitch_format>(format), input_bytes);
}

std::vector<std::byte> compress(std::span<const std::byte> input, const CompressOptions& options) {
  const CompressOptions with_size = with_content_bytes(options, input);
  if (options.format == Format::kLz4 && input.size() <= kShortBytes) {
    std::vector<std::byte> room(compress_bound(input.size(), options.format));
    if (const auto bytes = compress_short(input, room, with_size)) {
      room.resize(*bytes);
      return room;
    }
  }
  MemorySource source(input);
  VectorSink sink;
  compress_stream(source, sink, with_size);
  return sink.take();
}

std::vector<std::byte> restore(std::span<const std::byte> input, const RestoreOptions& options) {
  VectorSink sink;
  const auto whole = [&](std::span<const std::byte> content) { sink.write(content); };
  if (!restore_short(input, options, whole)) restore_all(input, sink, options, {});
  return sink.take();
}

std::size_t compress_into(std::span<const std::byte> input, std::span<std::byte> output,
                          const CompressOptions& options, const Progress& progress) {
  const CompressOptions with_size = with_content_bytes(options, input);
  refuse_overlap(input, output);
  if (!progress)
    if (const auto bytes = compress_short(input, output, with_size)) return *bytes;
  MemorySource source(input);
  RoomSink sink(output);
  compress_stream(source, sink, with_size, hooks_of(progress));
  return sink.written();
}

std::size_t restore_into(std::span<const std::byte> input, std::span<std::byte> output,
                         const RestoreOptions& options, const Progress& progress) {
  refuse_overlap(input, output);
  RoomSink sink(output);
  const auto whole = [&](std::span<const std::byte> content) { sink.write(content); };
  if (progress || !restore_short(input, options, whole)) restore_all(input, sink, options, progress);
  return sink.written();
}

void restore_to(std::span<const std::byte> input, const Output& output, const RestoreOptions& options,
                const Progress& progress) {
  CallSink sink(output);
  if (progress || !restore_short(input, options, output)) restore_all(input, sink, options, progress);
}

std::uint64_t restored_bytes(std::span<const std::byte> input, const RestoreOptions& options) {
  WatchedSource source(input, options.between_pieces);
  return content_bytes_of_stream(source, options);
}

std::vector<OneOfMany> compress_many(std::span<const std::span<const std::byte>> inputs,
                                     const CompressOptions& options) {
  if (options.content_bytes)
    throw Error(Status::kInvalidOption, "content_bytes: each of many inputs has its own size");
  std::vector<OneOfMany> results(inputs.size());
  std::uint64_t all_bytes = 0;
  for (const std::span<const std::byte> input : inputs) all_bytes += input.size();
  FrameCompressor frames(options, {}, all_bytes);
  const std::vector<std::size_t> left = in_batches(
      frames, inputs, [&](std::size_t bytes) { return frames.input_cost(bytes); },
      [&](ManyBatch& batch) {
        const auto written = frames.compress(batch.copies, batch.output);
        for (std::size_t i = 0; i < written.size(); ++i)
          results[batch.numbers[i]].bytes.assign(written[i].begin(), written[i].end());
      });
  one_by_one(left, frames.threads(), [&](std::size_t number, unsigned threads) {
    CompressOptions alone = options;
    alone.threads = threads;
    results[number].bytes = compress(inputs[number], alone);
  });
  return results;
}

std::vector<OneOfMany> restore_many(std::span<const std::span<const std::byte>> inputs,
                                    const RestoreOptions& options) {
  refuse_used_bytes(options);
  std::vector<OneOfMany> results(inputs.size());
  std::uint64_t all_bytes = 0;
  for (const std::span<const std::byte> input : inputs) all_bytes += input.size();
  FrameRestorer frames(options, {}, all_bytes);
  std::vector<char> restored(inputs.size(), 0);  // no vector<bool>, since threads write neighbouring elements
  in_batches(
      frames, inputs, [](std::size_t bytes) { return bytes; },
      [&](ManyBatch& batch) {
        for (std::size_t done = 0; done < batch.copies.size();) {
          const auto some = frames.restore(std::span(batch.copies).subspan(done), batch.output);
          for (std::size_t i = 0; i < some.size(); ++i) {
            const std::size_t number = batch.numbers[done + i];
            if (!some[i].content) continue;
            results[number].bytes.assign(some[i].content->begin(), some[i].content->end());
            restored[number] = 1;
          }
          done += some.size();
        }
      });
  // The inputs that batches left: a stream restores them, or says exactly what is wrong.
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (restored[i] == 0) left.push_back(i);
  one_by_one(left, frames.threads(), [&](std::size_t number, unsigned threads) {
    RestoreOptions alone = options;
    alone.threads = threads;
    VectorSink sink;
    bool is_whole = false;
    try {
      MemorySource source(inputs[number]);
      const StreamReport report = restore_stream(source, sink, alone);
      is_whole = true;
      report_end(report, alone);
    } catch (const Error& thrown) {
      if (thrown.status() == Status::kCancelled) throw;
      results[number] = failed(thrown);
    }
    if (is_whole) results[number].bytes = sink.take();
  });
  return results;
}

void compress_lz4_blocks(std::span<Lz4Block> blocks, const CompressOptions& given) {
  CompressOptions options = given;
  options.format = Format::kLz4;
  if (options.level == 0) options.level = kMinLevel;
  check_level(options);
  validate(options);
  for (const Lz4Block& block : blocks)
    if (block.input.size() > kMostLz4InputBytes)
      throw Error(Status::kInvalidOption, fmt::format("an LZ4 block holds at most {} bytes, this one has {}",
                                                      kMostLz4InputBytes, block.input.size()));
  refuse_overlapping(blocks);
  ResilientEngine engine("cpu", {}, {.format = Format::kLz4, .level = options.level}, DeviceTime::kBefore,
                         options.between_pieces);
  run_blocks(blocks, stretches(blocks), resolve_threads(options.threads), [&](std::span<BlockTask> tasks) {
    for (BlockTask& task : tasks) {
      // liblz4's levels 10 to 12 compute addresses before the beginning of an empty input, which NULL does
      // not have.
      static constexpr std::byte kNothing{};
      if (task.input.empty()) task.input = {&kNothing, 0};
      // liblz4 counts room in an int. It never uses more than the bound.
      task.output = task.output.first(std::min(task.output.size(), lz4_block_bound(task.input.size())));
    }
    engine.compress(tasks,
                    {.format = Format::kLz4, .level = options.level, .acceleration = options.acceleration});
  });
}

void restore_lz4_blocks(std::span<Lz4Block> blocks, const RestoreOptions& options) {
  validate(options);
  refuse_overlapping(blocks);
  refuse_used_bytes(options);
  const unsigned threads = resolve_threads(options.threads);
  Workload work{.direction = Direction::kRestore, .format = Format::kLz4, .threads = options.threads};
  work.content_bytes = work.compressed_bytes = 0;
  std::uint64_t longest = 1;
  for (const Lz4Block& block : blocks) {
    *work.content_bytes += block.output.size();
    *work.compressed_bytes += block.input.size();
    longest = std::max<std::uint64_t>(longest, block.output.size());
  }
  ResilientEngine engine(options.backend, options.device, work, DeviceTime::kBefore, options.between_pieces);
  const BlockEngine& preferred = engine.preferred();
  const DeviceNeeds device = preferred.device_needs(
      {.direction = Direction::kRestore, .format = Format::kLz4, .block_bytes = longest});
  if (!device.batch_bytes) {
    run_blocks(blocks, stretches(blocks), threads,
               [&](std::span<BlockTask> tasks) { engine.restore(tasks, Format::kLz4); });
    return;
  }
  BatchNeeds needs;
  needs.block_bytes = longest;
  needs.buffer_bytes_per_block = longest + preferred.staging_bytes(longest, longest);
  needs.content_bytes = blocks.size() * longest;
  needs.preferred_batch_bytes = std::max<std::uint64_t>(preferred.preferred_batch_bytes(),
                                                        preferred.preferred_batch_blocks() * longest);
  needs.preferred_batches_in_flight = preferred.preferred_batches_in_flight(threads);
  needs.memory_limit_bytes = options.memory_limit_bytes;
  needs.device = device;
  needs.device_limit_bytes = options.gpu_memory_limit_bytes;
  const std::size_t per_batch = plan_batches(needs).blocks_per_batch;
  std::vector<std::size_t> ends;
  for (std::size_t end = 0; end < blocks.size();)
    ends.push_back(end = std::min(blocks.size(), end + per_batch));
  run_blocks(blocks, ends, needs.preferred_batches_in_flight,
             [&](std::span<BlockTask> tasks) { engine.restore(tasks, Format::kLz4); });
}

}  // namespace hemstitch
