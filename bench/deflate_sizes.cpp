// Sizes and speed of the DEFLATE streams that the twins write.
//
//   deflate_sizes [--bgzf] [--level N]... [--json FILE] INPUT...
//
// Every input becomes one gzip member of blocks of 1 MiB or, with --bgzf, a file of members of 65,280 bytes.
// A size is that of the whole file, with headers, checksums and end. A speed is that of one core: bytes
// divided by the sum of all threads' processor time. zlib restores every stream, and the result is compared.
// The JSON file has the rows of a recorded run (tools/bench twins records them with their origin, and adds
// other tools' sizes).
#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "format/deflate/compress/deflate_compress_reference.hpp"

namespace hemstitch {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kBgzfBlockBytes = 65280;
// gzip: 10 bytes before the stream, a last block of 2 bytes, checksum and size. BGZF: 18 bytes before and 8
// after each member, 28 at the end.
constexpr std::uint64_t kGzipBytes = 10 + 2 + 8;
constexpr std::uint64_t kBgzfMemberBytes = 18 + 8;
constexpr std::uint64_t kBgzfEndBytes = 28;

// The processor time that the calling thread has used.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Totals {
  std::uint64_t compressed_bytes = 0;
  double core_seconds = 0;

  void add(const Totals& other) {
    compressed_bytes += other.compressed_bytes;
    core_seconds += other.core_seconds;
  }
};

// Whether zlib restores `content` from a block's data.
bool restores(std::span<const std::byte> data, const FinderInput& input) {
  const auto content = input.data.subspan(input.history_bytes);
  const auto bytes = [](const std::byte* at) {
    return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(at));
  };
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  inflateSetDictionary(&stream, bytes(input.data.data()), static_cast<uInt>(input.history_bytes));
  Bytes restored(content.size() + 1);
  stream.next_in = bytes(data.data());
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = bytes(restored.data());
  stream.avail_out = static_cast<uInt>(restored.size());
  inflate(&stream, Z_SYNC_FLUSH);
  restored.resize(stream.total_out);
  const bool all_taken = stream.avail_in == 0;
  inflateEnd(&stream);
  return all_taken && std::ranges::equal(restored, content);
}

Totals measure(const Bytes& input, bool bgzf, const DeflateLevel& level) {
  const std::size_t block_bytes = bgzf ? kBgzfBlockBytes : kDeflateMostBlockBytes;
  tbb::enumerable_thread_specific<Totals> totals;
  tbb::parallel_for(std::size_t{0}, (input.size() + block_bytes - 1) / block_bytes, [&](std::size_t index) {
    const std::size_t begin = index * block_bytes;
    const std::size_t history = bgzf ? 0 : std::min<std::size_t>(begin, kDeflateWindowBytes);
    const std::size_t bytes = std::min(block_bytes, input.size() - begin);
    const FinderInput block{std::span(input).subspan(begin - history, history + bytes), history};
    Bytes room(deflate_data_room(bytes));
    const double start_seconds = thread_seconds();
    const EncodedBlock encoded =
        compress_deflate_block_reference(block, level, bgzf ? DeflateEnd::kFinal : DeflateEnd::kFlush, room);
    const double elapsed_seconds = thread_seconds() - start_seconds;
    if (encoded.status != Status::kOk || !restores(std::span(room).first(encoded.bytes), block))
      throw Error(Status::kInternal, fmt::format("zlib does not restore block {}", index));
    totals.local().add({encoded.bytes + (bgzf ? kBgzfMemberBytes : 0), elapsed_seconds});
  });
  Totals sum{bgzf ? kBgzfEndBytes : kGzipBytes, 0};
  for (const Totals& part : totals) sum.add(part);
  return sum;
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes(std::filesystem::file_size(path));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw Error(Status::kReadFailed, path.string());
  return bytes;
}

void run(const std::vector<std::filesystem::path>& paths, bool bgzf, const std::vector<int>& levels,
         const std::string& json_path) {
  auto rows = nlohmann::ordered_json::array();
  const auto report = [&](const std::string& file, int level, std::uint64_t bytes, const Totals& ours) {
    const double ratio = static_cast<double>(bytes) / static_cast<double>(ours.compressed_bytes);
    const double gbps = static_cast<double>(bytes) / ours.core_seconds / 1e9;
    fmt::print("{:<12} {:>2} {:>10} {:>7.3f} {:>8.1f} MB/s\n", file, level, ours.compressed_bytes, ratio,
               gbps * 1e3);
    std::fflush(stdout);
    rows.push_back({{"what", "compress"},
                    {"backend", "reference"},
                    {"format", bgzf ? "bgzf" : "gzip"},
                    {"level", level},
                    {"block_bytes", bgzf ? kBgzfBlockBytes : kDeflateMostBlockBytes},
                    {"threads", 1},
                    {"file", file},
                    {"bytes", bytes},
                    {"compressed_bytes", ours.compressed_bytes},
                    {"ratio", ratio},
                    {"gbps", gbps},
                    {"span", "kernel"},
                    {"verified", true}});
  };

  fmt::print("{:<12} {:>2} {:>10} {:>7} {:>13}\n", "file", "-N", "bytes", "ratio", "a core");
  std::vector<Totals> total(levels.size());
  std::uint64_t total_bytes = 0;
  for (const auto& path : paths) {
    const Bytes input = read_file(path);
    total_bytes += input.size();
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const Totals ours = measure(input, bgzf, deflate_level(levels[i]));
      total[i].add(ours);
      report(path.filename().string(), levels[i], input.size(), ours);
    }
  }
  for (std::size_t i = 0; i < levels.size(); ++i) report("total", levels[i], total_bytes, total[i]);
  if (!json_path.empty()) std::ofstream(json_path) << rows.dump(1) << '\n';
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) try {
  CLI::App app("Sizes and speed of the DEFLATE streams that the twins write.");
  std::vector<std::filesystem::path> paths;
  std::vector<int> levels = {1, 3, 6, 9, 12};
  std::string json_path;
  bool bgzf = false;
  app.add_option("INPUT", paths)->required()->check(CLI::ExistingFile);
  app.add_flag("--bgzf", bgzf);
  app.add_option("--level", levels)->allow_extra_args(false)->check(CLI::Range(1, 12));
  app.add_option("--json", json_path);
  CLI11_PARSE(app, argc, argv);
  hemstitch::run(paths, bgzf, levels, json_path);
  return 0;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  std::fputc('\n', stderr);
  return 1;
}
