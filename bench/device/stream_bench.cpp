// Restores one long .gz on the device, in a process whose device is started, for common sources and targets.
//
//   stream_device_bench FOLDER       the folder has silesia/: its nine files, repeated to 1.1 GB
//   stream_device_bench FILE.gz...   these files
//   stream_device_bench --plans FOLDER | FILE.gz...
//                                    only from memory to pinned memory, with pieces of other sizes, several
//                                    at once or not; prints no rows
//
// From the folder, two streams are made, in memory (/dev/shm) if possible: one as pigz -6 writes it, by 16
// threads, and one of 20 GB, the same repeated, which is restored within 8 GB of the device's memory. Each
// figure is the best of three runs after one that warms up. Every run verifies checksum and size. Another
// run, which is not timed, compares the content on the processor. Rows:
//
//   pinned   from memory to pinned memory, as in the pipeline
//   file     from the file to nowhere, as with `hemstitch -t`; beside backend cpu
//   device   from the file to device memory (load_frame)
//
// Prints each row of a recorded run on a line.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cli/files/files.hpp"
#include "core/bytes.hpp"
#include "core/parallel.hpp"
#include "core/time_line.hpp"
#include "engine/cuda/cuda_engine.hpp"
#include "format/checksum.hpp"
#include "format/deflate/stream/deflate_device_decoder.hpp"
#include "format/deflate/stream/deflate_piece_device_cuda.hpp"
#include "gpu/cuda/device_clock.hpp"
#include "gpu/cuda/devices.hpp"
#include "hemstitch/files.hpp"
#include "pipeline/stream.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

namespace fs = std::filesystem;
using testing::Bytes;

constexpr unsigned kThreads = 16;
constexpr int kRuns = 3;
constexpr std::size_t kContentBytes = 1'100'000'000, kChunkBytes = 131'072, kGzipHeadBytes = 10,
                      kTrailerBytes = 8;
constexpr std::uint64_t kLongBytes = 20'000'000'000, kLongGpuMemory = std::uint64_t{8} << 30;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void must(bool done, const std::string& what) {
  if (!done) throw std::runtime_error(what + " failed");
}

// Compresses a piece like pigz: DEFLATE that refers to the 32 KB before it, and ends at a byte.
Bytes chunk_of(std::span<const std::byte> content, std::size_t at) {
  const auto piece = content.subspan(at, std::min(kChunkBytes, content.size() - at));
  z_stream stream{};
  must(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK, "deflateInit2");
  if (at != 0)
    deflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(content.data() + at - 32'768), 32'768);
  Bytes data(deflateBound(&stream, static_cast<uLong>(piece.size())) + 64);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
  stream.avail_in = static_cast<uInt>(piece.size());
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  deflate(&stream, Z_SYNC_FLUSH);
  must(stream.avail_in == 0, "deflate");
  data.resize(stream.total_out);
  deflateEnd(&stream);
  return data;
}

// Writes a .gz with the content, `times` over: the first chunk refers to nothing before it.
void write_stream(const std::string& path, std::span<const std::byte> content,
                  const std::vector<Bytes>& chunks, std::uint64_t times) {
  std::ofstream file(path, std::ios::binary);
  const unsigned char head[kGzipHeadBytes] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3};
  file.write(reinterpret_cast<const char*>(head), sizeof head);
  const std::uint32_t once = checksum_of(Checksum::kCrc32, content);
  std::uint32_t crc32 = 0;
  for (std::uint64_t i = 0; i < times; ++i) {
    for (const Bytes& chunk : chunks)
      file.write(reinterpret_cast<const char*>(chunk.data()), static_cast<std::streamsize>(chunk.size()));
    crc32 = combined_checksum(Checksum::kCrc32, crc32, once, content.size());
  }
  std::byte end[2 + kTrailerBytes] = {std::byte{3}, std::byte{0}};
  store_le32(end + 2, crc32);
  store_le32(end + 6, static_cast<std::uint32_t>(times * content.size()));
  file.write(reinterpret_cast<const char*>(end), sizeof end);
  must(file.good(), "writing " + path);
}

// Counts the bytes, and computes their checksum if asked to.
class CountingSink : public Sink {
 public:
  explicit CountingSink(bool sums_up) : sums_up_(sums_up) {}
  void write(std::span<const std::byte> piece) override {
    bytes += piece.size();
    if (sums_up_) crc32 = checksum_behind(Checksum::kCrc32, crc32, piece);
  }
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;

 private:
  bool sums_up_;
};

StreamReport restore_file(const std::string& path, Sink& sink, std::string_view backend,
                          std::uint64_t gpu_memory) {
  RestoreOptions options;
  options.backend = backend;
  options.threads = kThreads;
  options.gpu_memory_limit_bytes = gpu_memory;
  cli::FileSource source(path);
  return restore_stream(source, sink, options, {}, {DataPlace::kFile, DataPlace::kNowhere});
}

struct Row {
  std::string file, span, peer;
  std::uint64_t bytes = 0, compressed_bytes = 0;
  double seconds = 0, peer_seconds = 0;
};

void print(const Row& row) {
  const auto gbps = [&](double seconds) { return static_cast<double>(row.bytes) / seconds / 1e9; };
  std::string more;
  if (!row.peer.empty())
    more = fmt::format(",\"peer\":\"{}\",\"peer_gbps\":{:.2f}", row.peer, gbps(row.peer_seconds));
  fmt::print(
      "{{\"what\":\"restore\",\"backend\":\"cuda\",\"format\":\"gzip\",\"level\":6,\"block_bytes\":0,"
      "\"file\":\"{}\",\"bytes\":{},"
      "\"ratio\":{:.4f},\"seconds\":{:.4f},\"gbps\":{:.2f},\"threads\":{},\"span\":\"{}\"{},\"verified\":"
      "true}}\n",
      row.file, row.bytes, static_cast<double>(row.bytes) / static_cast<double>(row.compressed_bytes),
      row.seconds, gbps(row.seconds), kThreads, row.span, more);
  std::fflush(stdout);
}

double best_of(int runs, const std::function<void()>& work) {
  work();
  double best = 1e9;
  for (int i = 0; i < runs; ++i) best = std::min(best, seconds_of(work));
  return best;
}

// Restores through a decoder as the pipeline does, into pinned memory that is settled before it is used
// again.
double pinned_seconds(const Bytes& data, std::uint64_t content_bytes, cuda::CudaEngine& engine,
                      const std::function<std::unique_ptr<StreamDecoder>(const StreamMeans&)>& make_decoder) {
  constexpr std::size_t kRoomBytes = std::size_t{32} << 20, kRooms = 7;
  std::vector<LargeBuffer> rooms;
  for (std::size_t i = 0; i < kRooms; ++i) rooms.push_back(engine.make_buffer(kRoomBytes));
  const auto stream = std::span(data).subspan(kGzipHeadBytes);
  return best_of(kRuns, [&] {
    StreamMeans means;
    means.threads = kThreads;
    means.input_bytes = data.size();
    means.settles = true;
    means.on_failure = [](const std::string& reason) { throw std::runtime_error(reason); };
    const auto decoder = make_decoder(means);
    std::span<const std::byte> left = stream;
    std::uint64_t done = 0;
    run_on_threads(kThreads, [&] {
      std::uint64_t numbers[kRooms] = {};
      std::size_t turn = 0, used = 0;
      for (bool ended = false; !ended;) {
        const auto room = decoder->input_room().value();
        const auto some = left.first(std::min(left.size(), room.size()));
        copy_in_parallel(room.data(), some.data(), some.size());
        if (used == 0) decoder->settle(numbers[turn]);
        const StreamStep step =
            decoder->restore(room.first(some.size()), {rooms[turn].get() + used, kRoomBytes - used});
        must(step.status == Status::kOk, "restoring");
        left = left.subspan(step.input_bytes);
        used += step.output_bytes;
        done += step.output_bytes;
        numbers[turn] = decoder->under_way();
        ended = step.ended;
        if (used != kRoomBytes) continue;
        turn = (turn + 1) % kRooms;
        used = 0;
      }
      decoder->settle(decoder->under_way());
    });
    must(done == content_bytes &&
             decoder->content_crc32() == load_le32(data.data() + data.size() - kTrailerBytes),
         "verifying");
  });
}

double pinned_seconds(const Bytes& data, std::uint64_t content_bytes) {
  cuda::CudaEngine engine(cuda::open_device({}));
  return pinned_seconds(data, content_bytes, engine, [&](const StreamMeans& means) {
    return engine.make_stream_decoder(Format::kGzip, {}, {}, means);
  });
}

// Sizes are in MiB of compressed bytes.
struct Plan {
  std::size_t first, most;
  unsigned rooms, inputs, outputs;
};

void compare_plans(const Bytes& data, std::uint64_t content_bytes, const std::string& name) {
  constexpr Plan kPlans[] = {{8, 64, 1, 3, 2},  {32, 64, 1, 4, 2}, {8, 64, 2, 4, 2},  {16, 64, 2, 4, 2},
                             {32, 64, 2, 4, 2}, {32, 32, 2, 4, 2}, {64, 64, 2, 4, 2}, {32, 64, 2, 4, 3},
                             {32, 64, 3, 5, 2}, {32, 64, 3, 5, 3}, {32, 32, 3, 5, 3}, {32, 128, 1, 4, 2},
                             {32, 128, 2, 4, 2}};
  cuda::Device& device = cuda::open_device({});
  cuda::CudaEngine engine(device);
  for (const Plan& plan : kPlans) {
    DeflateDeviceLimits limits;
    limits.piece_bytes = plan.most << 20;
    limits.first_piece_bytes = plan.first << 20;
    limits.inputs = plan.inputs;
    limits.outputs = plan.outputs;
    limits.rooms = plan.rooms;
    limits.host_pieces = plan.inputs + plan.outputs;
    limits.content_bytes = limits.piece_bytes * kDeflateDeviceContentFactor;
    std::string times;
    std::unique_ptr<TimeLine> line;
    std::unique_ptr<cuda::DeviceClock> clock;
    const double seconds = pinned_seconds(
        data, content_bytes, engine, [&](const StreamMeans& means) -> std::unique_ptr<StreamDecoder> {
          line = std::make_unique<TimeLine>();
          clock = std::make_unique<cuda::DeviceClock>(*line);
          return std::make_unique<DeflateDeviceDecoder>(
              std::make_unique<cuda::CudaPieces>(device, limits, clock.get()), std::span<const std::byte>(),
              true, means, limits);
        });
    fmt::print(
        "{}: pieces of {} to {} MiB, {} at once, {} inputs, {} outputs, {} MB of the device: {:.2f} GB/s, "
        "{:.1f} ms; the last run {}\n",
        name, plan.first, plan.most, plan.rooms, plan.inputs, plan.outputs,
        cuda::cuda_pieces_bytes(limits) / 1'000'000, static_cast<double>(content_bytes) / seconds / 1e9,
        seconds * 1e3, line->report().text());
    std::fflush(stdout);
  }
}

void measure_plans(const std::string& path, const std::string& name) {
  CountingSink sums(true);
  restore_file(path, sums, "cuda", 0);
  compare_plans(testing::read_file(path, SIZE_MAX), sums.bytes, name);
}

void measure(const std::string& path, const std::string& name, std::uint64_t gpu_memory, bool long_one) {
  CountingSink sums(true);
  const StreamReport report = restore_file(path, sums, "cuda", gpu_memory);
  must(report.fallback_blocks == 0, "the device: " + report.fallback_reason);
  std::fprintf(stderr, "%s: device memory %llu of at most %llu; %s\n", name.c_str(),
               static_cast<unsigned long long>(report.planned_device_bytes),
               static_cast<unsigned long long>(report.device_limit_bytes), report.times.text().c_str());
  Row row{.file = name,
          .span = "file",
          .peer = long_one ? "" : "cpu",
          .bytes = sums.bytes,
          .compressed_bytes = fs::file_size(path)};
  const auto timed = [&](std::string_view backend) {
    return best_of(backend == "cpu" ? 1 : kRuns, [&] {
      CountingSink nowhere(false);
      const StreamReport found = restore_file(path, nowhere, backend, gpu_memory);
      must(nowhere.bytes == row.bytes, "restoring");
      if (backend == "cuda") std::fprintf(stderr, "%s: %s\n", name.c_str(), found.times.text().c_str());
    });
  };
  row.seconds = timed("cuda");
  if (!long_one) row.peer_seconds = timed("cpu");
  print(row);
  if (long_one) return;
  row.peer.clear();
  row.span = "device";
  row.seconds = best_of(kRuns, [&] {
    FrameLoadOptions options;
    options.threads = kThreads;
    const DeviceContent content = load_frame(path, options);
    must(content.restored_on_device() && content.bytes() == row.bytes, "loading");
  });
  print(row);
  row.span = "pinned";
  row.seconds = pinned_seconds(testing::read_file(path, SIZE_MAX), row.bytes);
  print(row);
}

void run(std::vector<std::string> arguments) {
  cuda::open_device({}).make_current();
  const bool plans = arguments.front() == "--plans";
  if (plans) arguments.erase(arguments.begin());
  if (!fs::is_directory(arguments.at(0))) {
    for (const std::string& path : arguments)
      if (plans)
        measure_plans(path, fs::path(path).filename());
      else
        measure(path, fs::path(path).filename(), 0, false);
    return;
  }
  Bytes files;
  for (const auto& entry : fs::directory_iterator(fs::path(arguments.front()) / "silesia")) {
    const Bytes file = testing::read_file(entry.path(), SIZE_MAX);
    files.insert(files.end(), file.begin(), file.end());
  }
  Bytes content(kContentBytes);
  for (std::size_t at = 0; at < content.size(); at += files.size())
    std::memcpy(content.data() + at, files.data(), std::min(files.size(), content.size() - at));
  std::vector<Bytes> chunks((content.size() + kChunkBytes - 1) / kChunkBytes);
  run_on_threads(kThreads, [&] {
    run_in_parallel(chunks.size(), 1, [&](std::size_t i) { chunks[i] = chunk_of(content, i * kChunkBytes); });
  });
  const fs::path folder = fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
  const std::string path = (folder / ("hemstitch-stream-bench-" + std::to_string(getpid()))).string();
  try {
    write_stream(path, content, chunks, plans ? 2 : 1);
    if (plans) {
      measure_plans(path, "mixed, pigz -6, 2.2 GB");
      write_stream(path, content, chunks, 1);
      measure_plans(path, "mixed, pigz -6");
      unlink(path.c_str());
      return;
    }
    measure(path, "mixed, pigz -6", 0, false);
    write_stream(path, content, chunks, kLongBytes / content.size() + 1);
    measure(path, "mixed, pigz -6, 20 GB", kLongGpuMemory, true);
  } catch (...) {
    unlink(path.c_str());
    throw;
  }
  unlink(path.c_str());
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s [--plans] FOLDER | FILE.gz...\n", argv[0]);
    return 1;
  }
  try {
    hemstitch::run({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
