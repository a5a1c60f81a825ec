// How long it takes to restore LZ4 blocks on one core, with liblz4 and with our decoder, and how long a walk
// over their tokens takes.
//
//   lz4_decoders [--block BYTES] [--level N] [--linked] [--rounds N] INPUT...
//
// Every input is cut into blocks, which liblz4 compresses at the level; those that do not shrink are left
// out. A time is the sum of each block's shortest time in all rounds. A round restores all blocks of a file
// with one decoder, then with the other, so that each block is new to the processor's branch prediction. In
// the first round, every block is compared with its content.
#include <fmt/format.h>
#include <lz4.h>
#include <lz4hc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <vector>

#include "core/options.hpp"
#include "format/lz4/block/lz4_block_size.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/restore/lz4_restore.hpp"

namespace hemstitch {
namespace {

using Bytes = std::vector<std::byte>;

const char* chars(const std::byte* bytes) { return reinterpret_cast<const char*>(bytes); }
char* chars(std::byte* bytes) { return reinterpret_cast<char*>(bytes); }

struct Block {
  std::span<const std::byte> history, content;
  Bytes compressed;
};

std::vector<Block> compressed_blocks(const Bytes& content, std::size_t block_bytes, int level, bool linked) {
  const std::unique_ptr<LZ4_streamHC_t, decltype(&LZ4_freeStreamHC)> hc(LZ4_createStreamHC(),
                                                                        LZ4_freeStreamHC);
  const std::unique_ptr<LZ4_stream_t, decltype(&LZ4_freeStream)> fast(LZ4_createStream(), LZ4_freeStream);
  std::vector<Block> blocks;
  for (std::size_t at = 0; at < content.size(); at += block_bytes) {
    Block block;
    block.content = std::span(content).subspan(at, std::min(block_bytes, content.size() - at));
    if (linked) block.history = std::span(content).first(at).last(std::min(at, kLz4HistoryBytes));
    block.compressed.resize(block.content.size());
    const char* const history = chars(block.history.data());
    const int history_bytes = static_cast<int>(block.history.size()),
              bytes = static_cast<int>(block.content.size());
    int written = 0;
    if (level < 3) {
      LZ4_loadDict(fast.get(), history, history_bytes);
      written = LZ4_compress_fast_continue(fast.get(), chars(block.content.data()),
                                           chars(block.compressed.data()), bytes, bytes - 1, 1);
    } else {
      LZ4_resetStreamHC_fast(hc.get(), level);
      LZ4_loadDictHC(hc.get(), history, history_bytes);
      written = LZ4_compress_HC_continue(hc.get(), chars(block.content.data()),
                                         chars(block.compressed.data()), bytes, bytes - 1);
    }
    if (written <= 0) continue;
    block.compressed.resize(static_cast<std::size_t>(written));
    blocks.push_back(std::move(block));
  }
  return blocks;
}

enum Way { kLiblz4, kOurs, kWalk, kWayCount };

// Returns the number of bytes that `way` finds in the block. The history is in memory before `output`.
std::size_t restore(Way way, const Block& block, std::span<const std::byte> history,
                    std::span<std::byte> output) {
  switch (way) {
    case kLiblz4: {
      const int bytes = LZ4_decompress_safe_usingDict(
          chars(block.compressed.data()), chars(output.data()), static_cast<int>(block.compressed.size()),
          static_cast<int>(output.size()), chars(history.data()), static_cast<int>(history.size()));
      return bytes < 0 ? 0 : static_cast<std::size_t>(bytes);
    }
    case kOurs:
      return restore_lz4_block(block.compressed, history, output).bytes;
    default:
      return static_cast<std::size_t>(lz4_block_restored_bytes(block.compressed).value_or(0));
  }
}

std::array<double, kWayCount> seconds_of(const std::vector<Block>& blocks, std::size_t block_bytes,
                                         int rounds) {
  std::array<std::vector<double>, kWayCount> shortest;
  shortest.fill(std::vector<double>(blocks.size(), std::numeric_limits<double>::infinity()));
  Bytes memory(kLz4HistoryBytes + block_bytes);
  for (int round = 0; round < rounds; ++round)
    for (const Way way : {kLiblz4, kOurs, kWalk})
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        const Block& block = blocks[i];
        const auto history = std::span(memory).first(kLz4HistoryBytes).last(block.history.size());
        const auto output = std::span(memory).subspan(kLz4HistoryBytes, block.content.size());
        std::ranges::copy(block.history, history.begin());
        if (round == 0) std::ranges::fill(output, std::byte{0xAA});
        const auto begin = std::chrono::steady_clock::now();
        const std::size_t bytes = restore(way, block, history, output);
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
        shortest[way][i] = std::min(shortest[way][i], time.count());
        if (bytes != output.size() ||
            (round == 0 && way != kWalk && !std::ranges::equal(output, block.content)))
          throw Error(Status::kInternal, fmt::format("block {} is not restored", i));
      }
  std::array<double, kWayCount> sums{};
  for (const Way way : {kLiblz4, kOurs, kWalk})
    for (const double time : shortest[way]) sums[way] += time;
  return sums;
}

void run(const std::vector<std::filesystem::path>& paths, std::size_t block_bytes, int level, bool linked,
         int rounds) {
  std::array<double, kWayCount> all{};
  std::size_t all_bytes = 0;
  const auto print = [](const std::string& name, std::size_t bytes,
                        const std::array<double, kWayCount>& seconds) {
    fmt::print("{:<20} {:>8.2f} {:>8.2f} {:>8.1f} % {:>8.1f} %\n", name,
               static_cast<double>(bytes) / seconds[kLiblz4] / 1e9,
               static_cast<double>(bytes) / seconds[kOurs] / 1e9, 100 * seconds[kOurs] / seconds[kLiblz4],
               100 * seconds[kWalk] / seconds[kLiblz4]);
  };
  fmt::print("{:<20} {:>8} {:>8} {:>10} {:>10}\n", "GB/s, times", "liblz4", "ours", "ours", "walk");
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    Bytes content(std::filesystem::file_size(path));
    file.read(chars(content.data()), static_cast<std::streamsize>(content.size()));
    if (!file) throw Error(Status::kReadFailed, path.string());
    const std::vector<Block> blocks = compressed_blocks(content, block_bytes, level, linked);
    if (blocks.empty()) continue;
    std::size_t bytes = 0;
    for (const Block& block : blocks) bytes += block.content.size();
    const auto seconds = seconds_of(blocks, block_bytes, rounds);
    print(path.filename().string(), bytes, seconds);
    all_bytes += bytes;
    for (std::size_t way = 0; way < kWayCount; ++way) all[way] += seconds[way];
  }
  print("all", all_bytes, all);
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) {
  CLI::App app("Restores LZ4 blocks by liblz4 and by Hemstitch.");
  std::size_t block_bytes = 256 << 10;
  int level = 1, rounds = 15;
  bool linked = false;
  std::vector<std::filesystem::path> paths;
  app.add_option("--block", block_bytes, "bytes of a block")->check(CLI::Range(1u, 4u << 20));
  app.add_option("--level", level, "liblz4's level")->check(CLI::Range(1, 12));
  app.add_flag("--linked", linked, "blocks refer to the 64 KB before them");
  app.add_option("--rounds", rounds, "of which the shortest counts")->check(CLI::Range(1, 1000));
  app.add_option("inputs", paths, "files")->required()->check(CLI::ExistingFile);
  CLI11_PARSE(app, argc, argv);
  try {
    hemstitch::run(paths, block_bytes, level, linked, rounds);
  } catch (const std::exception& error) {
    fmt::print(stderr, "lz4_decoders: {}\n", error.what());
    return 1;
  }
  return 0;
}
