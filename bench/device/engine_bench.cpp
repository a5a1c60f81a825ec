// The speed of the engine of `cuda` from host memory to host memory, depending on batches and threads.
//
//   engine_device_bench FOLDER       the folder has silesia/: its nine files, one after the other, make 1 GiB
//
// Every figure is the best of two passes over all the data, after one that warms up (and pins memory).
// Threads take batches as the pipeline does, from ordinary memory to ordinary memory. Prints each row of a
// recorded run on a line. "one call" has the sizes of founding document 001 (docs/founding.md): 4 MB in 16
// blocks of 256 KB, as LZ4 at level 1 and as DEFLATE at level 6, from the call to its result; the median of
// 20 calls.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "engine/cuda/cuda_engine.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "gpu/cuda/devices.hpp"
#include "shapes.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;

constexpr std::size_t kDataBytes = std::size_t{1} << 30;
constexpr int kPasses = 3;

struct Setting {
  int level;
  std::size_t block_bytes;
  std::size_t batch_bytes;
  unsigned threads;
};

// Runs work(batch) for every batch on the setting's threads. Returns seconds.
template <class Work>
double run(const Setting& setting, std::size_t batch_count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < setting.threads; ++i)
    threads.emplace_back([&] {
      try {
        for (std::size_t batch; (batch = next++) < batch_count;) work(batch);
      } catch (const std::exception& error) {
        if (!failed.exchange(true)) std::fprintf(stderr, "%s\n", error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (failed) throw std::runtime_error("a batch failed");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void measure(BlockEngine& engine, const Bytes& data, Bytes& room, Bytes& restored, const Setting& setting) {
  const std::size_t block_count = data.size() / setting.block_bytes;
  const std::size_t batch_blocks = std::max<std::size_t>(1, setting.batch_bytes / setting.block_bytes);
  const std::size_t batch_count = (block_count + batch_blocks - 1) / batch_blocks;
  std::vector<BlockTask> blocks(block_count), back(block_count);
  for (std::size_t i = 0; i < block_count; ++i) {
    blocks[i].input = std::span(data).subspan(i * setting.block_bytes, setting.block_bytes);
    blocks[i].output = std::span(room).subspan(i * setting.block_bytes, setting.block_bytes - 1);
  }
  const auto part = [&](std::vector<BlockTask>& tasks, std::size_t batch) {
    const std::size_t begin = batch * batch_blocks;
    return std::span(tasks).subspan(begin, std::min(batch_blocks, block_count - begin));
  };
  const EncodeParameters parameters{.level = setting.level, .block_bytes = setting.block_bytes};
  double compressing = 1e9, restoring = 1e9;
  for (int pass = 0; pass < kPasses; ++pass) {
    const double seconds = run(setting, batch_count,
                               [&](std::size_t batch) { engine.compress(part(blocks, batch), parameters); });
    if (pass > 0) compressing = std::min(compressing, seconds);
  }
  std::size_t compressed_bytes = 0;
  std::vector<BlockTask> shrunk;
  for (std::size_t i = 0; i < block_count; ++i) {
    if (blocks[i].status != Status::kOk) {
      compressed_bytes += setting.block_bytes;
      continue;
    }
    compressed_bytes += blocks[i].output_bytes;
    shrunk.push_back({.input = blocks[i].output.first(blocks[i].output_bytes),
                      .history = {},
                      .output = std::span(restored).subspan(i * setting.block_bytes, setting.block_bytes)});
  }
  const std::size_t shrunk_bytes = shrunk.size() * setting.block_bytes;
  const std::size_t shrunk_batches = (shrunk.size() + batch_blocks - 1) / batch_blocks;
  for (int pass = 0; pass < kPasses; ++pass) {
    const double seconds = run(setting, shrunk_batches, [&](std::size_t batch) {
      const std::size_t begin = batch * batch_blocks;
      engine.restore(std::span(shrunk).subspan(begin, std::min(batch_blocks, shrunk.size() - begin)),
                     Format::kLz4);
    });
    if (pass > 0) restoring = std::min(restoring, seconds);
  }
  bool verified = true;
  for (const BlockTask& task : shrunk) {
    const std::size_t at = static_cast<std::size_t>(task.output.data() - restored.data());
    verified &=
        task.status == Status::kOk && task.output_bytes == setting.block_bytes &&
        std::equal(task.output.begin(), task.output.end(), data.begin() + static_cast<std::ptrdiff_t>(at));
  }
  const auto row = [&](const char* what, std::size_t bytes, double seconds) {
    std::printf(
        "{\"what\":\"%s\",\"backend\":\"cuda\",\"format\":\"lz4\",\"level\":%d,\"block_bytes\":%zu,\"batch_"
        "bytes\":"
        "%zu,\"threads\":%u,\"file\":\"corpus\",\"bytes\":%zu,\"ratio\":%.4f,\"gbps\":%.2f,\"span\":"
        "\"memory\","
        "\"verified\":%s}\n",
        what, setting.level, setting.block_bytes, setting.batch_bytes, setting.threads, bytes,
        static_cast<double>(block_count * setting.block_bytes) / static_cast<double>(compressed_bytes),
        static_cast<double>(bytes) / seconds / 1e9, verified ? "true" : "false");
  };
  row("compress", block_count * setting.block_bytes, compressing);
  row("restore", shrunk_bytes, restoring);
  std::fflush(stdout);
}

void measure_call(BlockEngine& engine, const Bytes& data, Format format, int level) {
  constexpr std::size_t kBlockBytes = 256 << 10, kBlockCount = 16;
  constexpr int kCalls = 20;
  const bool is_lz4 = format == Format::kLz4;
  const std::size_t room_bytes = is_lz4 ? kBlockBytes - 1 : deflate_data_room(kBlockBytes);
  Bytes room(kBlockCount * room_bytes);
  std::vector<BlockTask> tasks(kBlockCount);
  for (std::size_t i = 0; i < kBlockCount; ++i) {
    tasks[i].input = std::span(data).subspan(i * kBlockBytes, kBlockBytes);
    tasks[i].output = std::span(room).subspan(i * room_bytes, room_bytes);
  }
  const EncodeParameters parameters{.format = format, .level = level, .block_bytes = kBlockBytes};
  std::vector<double> seconds;
  for (int call = 0; call <= kCalls; ++call) {
    const auto begin = std::chrono::steady_clock::now();
    engine.compress(tasks, parameters);
    if (call > 0)
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + kCalls / 2, seconds.end());
  std::size_t compressed_bytes = 0;
  bool verified = true;
  Bytes back(kBlockBytes);
  for (const BlockTask& task : tasks) {
    compressed_bytes += task.output_bytes;
    verified &= task.status == Status::kOk;
    const auto block = task.output.first(task.output_bytes);
    if (is_lz4) {
      BlockTask restored{.input = block, .history = {}, .output = back};
      engine.restore({&restored, 1}, format);
      verified &= restored.status == Status::kOk && std::ranges::equal(back, task.input);
    } else {
      // An empty last block turns a block that is not the last into a stream.
      Bytes stream(block.begin(), block.end());
      stream.insert(stream.end(), {std::byte{3}, std::byte{0}});
      const auto restored = testing::inflated_by_zlib(stream, testing::ZlibKind::kDeflate);
      verified &= restored && std::ranges::equal(*restored, task.input);
    }
  }
  constexpr std::size_t kBytes = kBlockCount * kBlockBytes;
  std::printf(
      "{\"what\":\"compress, one "
      "call\",\"backend\":\"cuda\",\"format\":\"%s\",\"level\":%d,\"block_bytes\":%zu,"
      "\"items\":%zu,\"file\":\"corpus\",\"bytes\":%zu,\"ratio\":%.4f,\"milliseconds\":%.3f,\"span\":"
      "\"memory\","
      "\"verified\":%s}\n",
      is_lz4 ? "lz4" : "gzip", level, kBlockBytes, kBlockCount, kBytes,
      static_cast<double>(kBytes) / static_cast<double>(compressed_bytes), seconds[kCalls / 2] * 1e3,
      verified ? "true" : "false");
  std::fflush(stdout);
}

int bench(const std::filesystem::path& folder) {
  Bytes files;
  for (const auto& file : std::filesystem::directory_iterator(folder / "silesia")) {
    const Bytes bytes = testing::read_file(file.path());
    files.insert(files.end(), bytes.begin(), bytes.end());
  }
  if (files.empty()) throw std::runtime_error("no files in " + folder.string() + "/silesia");
  Bytes data(kDataBytes), room(kDataBytes), restored(kDataBytes);
  for (std::size_t at = 0; at < data.size(); at += files.size())
    std::copy_n(files.begin(), std::min(files.size(), data.size() - at),
                data.begin() + static_cast<std::ptrdiff_t>(at));
  cuda::CudaEngine engine(cuda::open_device({}));
  constexpr std::size_t kMega = std::size_t{1} << 20;
  constexpr std::size_t k64K = 64 << 10, k256K = 256 << 10, k4M = 4 * kMega;
  for (const Setting& setting : std::initializer_list<Setting>{{1, k64K, 32 * kMega, 5},
                                                               {1, k256K, 16 * kMega, 5},
                                                               {1, k256K, 32 * kMega, 5},
                                                               {1, k256K, 64 * kMega, 5},
                                                               {1, k256K, 32 * kMega, 1},
                                                               {1, k4M, 32 * kMega, 5},
                                                               {1, k4M, 128 * kMega, 5},
                                                               {3, k256K, 32 * kMega, 5},
                                                               {12, k256K, 32 * kMega, 5}})
    measure(engine, data, room, restored, setting);
  measure_call(engine, data, Format::kLz4, 1);
  for (const int level : {1, 6, 9}) measure_call(engine, data, Format::kGzip, level);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 1;
  }
  try {
    return hemstitch::bench(arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
