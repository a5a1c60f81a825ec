// Sizes and speed of the LZ4 blocks that the twins write, beside liblz4's level 12 on the same blocks.
//
//   lz4_block_sizes [--block BYTES] [--level N]... [--json FILE] INPUT...
//
// Every input is cut into independent blocks. A size is the sum of the blocks' payloads, as encoded, without
// frames; a ratio uses the raw size of a block that does not shrink. A speed is that of one core: bytes
// divided by the sum of all threads' processor time. liblz4 restores every block, and the result is compared.
// The JSON file has the rows of a recorded run (tools/bench twins records them with their origin).
#include <fmt/format.h>
#include <lz4.h>
#include <lz4hc.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "format/lz4/compress/lz4_compress_reference.hpp"

namespace hemstitch {
namespace {

using Bytes = std::vector<std::byte>;

const char* chars(const std::byte* bytes) { return reinterpret_cast<const char*>(bytes); }
char* chars(std::byte* bytes) { return reinterpret_cast<char*>(bytes); }

// The processor time that the calling thread has used.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Totals {
  std::uint64_t payload_bytes = 0;  // as encoded
  std::uint64_t stored_bytes = 0;   // the raw size of a block that does not shrink
  double core_seconds = 0;

  void add(const Totals& other) {
    payload_bytes += other.payload_bytes;
    stored_bytes += other.stored_bytes;
    core_seconds += other.core_seconds;
  }
};

// `encode` takes a block and room for it, and returns the encoded bytes.
template <typename Encode>
Totals measure(const Bytes& input, std::size_t block_bytes, Encode encode) {
  tbb::enumerable_thread_specific<Totals> totals;
  const std::size_t block_count = (input.size() + block_bytes - 1) / block_bytes;
  tbb::parallel_for(std::size_t{0}, block_count, [&](std::size_t index) {
    const std::size_t begin = index * block_bytes;
    const auto block = std::span(input).subspan(begin, std::min(block_bytes, input.size() - begin));
    Bytes room(block.size() + block.size() / 255 + 16), restored(block.size());
    const double start_seconds = thread_seconds();
    const std::size_t encoded_bytes = encode(block, std::span(room));
    const double elapsed_seconds = thread_seconds() - start_seconds;
    const int restored_bytes =
        LZ4_decompress_safe(chars(room.data()), chars(restored.data()), static_cast<int>(encoded_bytes),
                            static_cast<int>(restored.size()));
    if (restored_bytes != static_cast<int>(block.size()) || !std::ranges::equal(restored, block))
      throw Error(Status::kInternal, fmt::format("liblz4 does not restore block {}", index));
    totals.local().add({encoded_bytes, std::min(encoded_bytes, block.size()), elapsed_seconds});
  });
  Totals sum;
  for (const Totals& part : totals) sum.add(part);
  return sum;
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes(std::filesystem::file_size(path));
  file.read(chars(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw Error(Status::kReadFailed, path.string());
  return bytes;
}

void run(const std::vector<std::filesystem::path>& paths, std::size_t block_bytes,
         const std::vector<int>& levels, const std::string& json_path) {
  auto rows = nlohmann::ordered_json::array();
  const auto report = [&](const std::string& file, int level, std::uint64_t bytes, const Totals& ours,
                          const Totals& peer) {
    const auto ratio = [&](const Totals& totals) {
      return static_cast<double>(bytes) / static_cast<double>(totals.stored_bytes);
    };
    const auto gbps = [&](const Totals& totals) {
      return static_cast<double>(bytes) / totals.core_seconds / 1e9;
    };
    const double above_percent =
        100.0 * (static_cast<double>(ours.payload_bytes) / static_cast<double>(peer.payload_bytes) - 1.0);
    fmt::print("{:<12} {:>2} {:>10} {:>7.3f} {:>8.1f} MB/s {:>10} {:>+7.2f} %\n", file, level,
               ours.payload_bytes, ratio(ours), gbps(ours) * 1e3, peer.payload_bytes, above_percent);
    rows.push_back({{"what", "compress"},
                    {"backend", "reference"},
                    {"format", "lz4"},
                    {"level", level},
                    {"block_bytes", block_bytes},
                    {"threads", 1},
                    {"file", file},
                    {"bytes", bytes},
                    {"compressed_bytes", ours.payload_bytes},
                    {"ratio", ratio(ours)},
                    {"gbps", gbps(ours)},
                    {"span", "kernel"},
                    {"peer", fmt::format("liblz4 {} level 12", LZ4_versionString())},
                    {"peer_compressed_bytes", peer.payload_bytes},
                    {"peer_ratio", ratio(peer)},
                    {"peer_gbps", gbps(peer)},
                    {"verified", true}});
  };

  fmt::print("{:<12} {:>2} {:>10} {:>7} {:>13} {:>10} {:>9}\n", "file", "-N", "bytes", "ratio", "a core",
             "liblz4 12", "above");
  std::vector<Totals> corpus(levels.size());
  Totals peer_corpus;
  std::uint64_t corpus_bytes = 0;
  for (const auto& path : paths) {
    const Bytes input = read_file(path);
    const Totals peer = measure(input, block_bytes, [](auto block, auto room) {
      return static_cast<std::size_t>(LZ4_compress_HC(chars(block.data()), chars(room.data()),
                                                      static_cast<int>(block.size()),
                                                      static_cast<int>(room.size()), LZ4HC_CLEVEL_MAX));
    });
    peer_corpus.add(peer);
    corpus_bytes += input.size();
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const Lz4Level level = lz4_level(levels[i], block_bytes);
      const Totals ours = measure(input, block_bytes, [&](auto block, auto room) {
        return compress_lz4_block_reference({block, 0}, level, room).bytes;
      });
      corpus[i].add(ours);
      report(path.filename().string(), levels[i], input.size(), ours, peer);
    }
  }
  for (std::size_t i = 0; i < levels.size(); ++i)
    report("corpus", levels[i], corpus_bytes, corpus[i], peer_corpus);
  if (!json_path.empty()) std::ofstream(json_path) << rows.dump(1) << '\n';
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) try {
  CLI::App app("Sizes and speed of the LZ4 blocks that the twins write, beside liblz4's level 12.");
  std::vector<std::filesystem::path> paths;
  std::size_t block_bytes = 65536;
  std::vector<int> levels = {1, 3, 6, 9, 12};
  std::string json_path;
  app.add_option("INPUT", paths)->required()->check(CLI::ExistingFile);
  app.add_option("--block", block_bytes)->check(CLI::Range(1, 4 << 20));
  app.add_option("--level", levels)->allow_extra_args(false)->check(CLI::Range(1, 12));
  app.add_option("--json", json_path);
  CLI11_PARSE(app, argc, argv);
  hemstitch::run(paths, block_bytes, levels, json_path);
  return 0;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  std::fputc('\n', stderr);
  return 1;
}
