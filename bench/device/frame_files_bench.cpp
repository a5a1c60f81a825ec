// Compressed files to device memory and back, in a process whose device is started.
//
//   frame_files_device_bench FOLDER       the folder has silesia/: its nine files, repeated to 8 GiB
//
// 16 threads make the files, in memory (/dev/shm) if possible, and smaller if there is little room. Each
// figure is the best of three runs after one that warms up, with blocks of 256K. Rows:
//
//   load                load_frame(), in restored bytes a second; beside it, in the same run, 16 threads that
//                       read the uncompressed file into pinned pieces and upload them; "load, BGZF": a file
//                       of BGZF at level 6
//   load, first         the run that warms up: memory is pinned and allocated
//   load, each device   the same file to each of several devices at once, if there are several; and one after
//                       the other
//   load, many          load_frames() of 2000 files of 256 KB each: frames of LZ4, and .gz with one member
//   save                save_frame(), in content bytes a second; beside the floor: how long 16 threads take
//                       to write as many bytes to a new file
//
// Prints each row of a recorded run on a line.
#include <cuda_runtime.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "device_array.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/event.hpp"
#include "hemstitch/files.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

namespace fs = std::filesystem;
using bench::DeviceArray;
using cuda::check;
using testing::Bytes;

constexpr unsigned kThreads = 16;
constexpr std::size_t kMostBytes = std::size_t{8} << 30;
constexpr std::size_t kPieceBytes = std::size_t{8} << 20;
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
constexpr int kRuns = 3;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void must(bool done, const std::string& what) {
  if (!done) throw std::runtime_error(what + " failed");
}

// Calls work(take) on kThreads threads. take() returns each number below `count` once, then `count`.
void on_threads(std::size_t count, const std::function<void(const std::function<std::size_t()>&)>& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      try {
        work([&] { return std::min(next++, count); });
      } catch (const std::exception& error) {
        if (!failed.exchange(true)) std::fprintf(stderr, "%s\n", error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  must(!failed, "a thread");
}

// The content of the files: `files`, repeated.
struct Content {
  const Bytes& files;
  std::size_t bytes;

  void copy(std::size_t at, std::span<std::byte> into) const {
    while (!into.empty()) {
      const std::size_t from = at % files.size(), count = std::min(into.size(), files.size() - from);
      std::memcpy(into.data(), files.data() + from, count);
      into = into.subspan(count);
      at += count;
    }
  }
  bool is(std::size_t at, std::span<const std::byte> there) const {
    while (!there.empty()) {
      const std::size_t from = at % files.size(), count = std::min(there.size(), files.size() - from);
      if (std::memcmp(there.data(), files.data() + from, count) != 0) return false;
      there = there.subspan(count);
      at += count;
    }
    return true;
  }
};

std::size_t pieces_of(std::size_t bytes) { return (bytes + kPieceBytes - 1) / kPieceBytes; }

// Fills a new file on kThreads threads, each part with fill(at, part). Returns seconds.
double write_new(const std::string& path, std::size_t bytes,
                 const std::function<void(std::size_t, std::span<std::byte>)>& fill) {
  unlink(path.c_str());
  std::atomic<bool> full = false;
  const double seconds = seconds_of([&] {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    must(file >= 0, path);
    on_threads(pieces_of(bytes), [&](const std::function<std::size_t()>& take) {
      Bytes piece(kPieceBytes);
      for (std::size_t number; (number = take()) < pieces_of(bytes);) {
        const std::size_t at = number * kPieceBytes;
        const std::span<std::byte> part = std::span(piece).first(std::min(kPieceBytes, bytes - at));
        fill(at, part);
        if (pwrite(file, part.data(), part.size(), static_cast<off_t>(at)) !=
            static_cast<ssize_t>(part.size()))
          full = true;
      }
    });
    close(file);
  });
  must(!full, "writing " + path);
  return seconds;
}

// The peer of loading: the uncompressed file through pinned pieces, two for each thread.
double read_and_upload(const std::string& path, std::size_t bytes, std::byte* d_to,
                       std::vector<cuda::PinnedBuffer<std::byte>>& pinned) {
  std::atomic<unsigned> started = 0;
  return seconds_of([&] {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    must(file >= 0, path);
    on_threads(pieces_of(bytes), [&](const std::function<std::size_t()>& take) {
      const std::span<std::byte> memory = pinned[started++].span();
      const cuda::Stream stream;
      cuda::Event sent[2] = {cuda::Event(cuda::Event::Kind::kWait), cuda::Event(cuda::Event::Kind::kWait)};
      std::size_t turn = 0;
      for (std::size_t number; (number = take()) < pieces_of(bytes); ++turn) {
        const std::size_t at = number * kPieceBytes;
        const std::span<std::byte> part =
            memory.subspan(turn % 2 * kPieceBytes, std::min(kPieceBytes, bytes - at));
        sent[turn % 2].synchronize();
        must(pread(file, part.data(), part.size(), static_cast<off_t>(at)) ==
                 static_cast<ssize_t>(part.size()),
             "reading");
        check(cudaMemcpyAsync(d_to + at, part.data(), part.size(), cudaMemcpyHostToDevice, stream.get()),
              "cudaMemcpyAsync");
        sent[turn % 2].record(stream.get());
      }
      stream.synchronize();
    });
    close(file);
  });
}

bool is_content(const std::byte* d_bytes, std::size_t bytes, const Content& content,
                std::vector<cuda::PinnedBuffer<std::byte>>& pinned, int device = 0) {
  std::atomic<unsigned> started = 0;
  std::atomic<bool> same = true;
  on_threads(pieces_of(bytes), [&](const std::function<std::size_t()>& take) {
    check(cudaSetDevice(device), "cudaSetDevice");
    const std::span<std::byte> memory = pinned[started++].span();
    for (std::size_t number; (number = take()) < pieces_of(bytes);) {
      const std::size_t at = number * kPieceBytes;
      const std::span<std::byte> part = memory.first(std::min(kPieceBytes, bytes - at));
      check(cudaMemcpy(part.data(), d_bytes + at, part.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
      if (!content.is(at, part)) same = false;
    }
  });
  return same;
}

void print_row(const std::string& what, const std::string& format, std::size_t block_bytes, int level,
               std::size_t items, std::size_t bytes, double ratio, double seconds, const std::string& peer,
               double peer_seconds, bool verified) {
  std::string more;
  if (!peer.empty())
    more = fmt::format(",\"peer\":\"{}\",\"peer_gbps\":{:.2f}", peer,
                       static_cast<double>(bytes) / peer_seconds / 1e9);
  fmt::print(
      "{{\"what\":\"{}\",\"backend\":\"cuda\",\"format\":\"{}\",\"level\":{},\"block_bytes\":{},"
      "\"file\":\"corpus\",\"items\":{},\"bytes\":{},\"ratio\":{:.4f},\"seconds\":{:.4f},\"gbps\":{:.2f},"
      "\"threads\":{},\"span\":\"device\"{},\"verified\":{}}}\n",
      what, format, level, block_bytes, items, bytes, ratio, seconds,
      static_cast<double>(bytes) / seconds / 1e9, kThreads, more, verified);
  std::fflush(stdout);
}

unsigned device_count() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  return static_cast<unsigned>(count);
}

// How many seconds it takes until each device has the content of the file, all at once. The content is
// compared once.
double load_to_every_device(const std::string& path, unsigned devices, const Content& content,
                            std::size_t bytes, std::vector<cuda::PinnedBuffer<std::byte>>& pinned,
                            bool& verified) {
  double best = 1e9;
  for (int i = 0; i <= kRuns; ++i) {
    std::vector<DeviceContent> loaded(devices);
    const double seconds = seconds_of([&] {
      std::vector<std::thread> threads;
      for (unsigned device = 0; device < devices; ++device)
        threads.emplace_back([&, device] {
          check(cudaSetDevice(static_cast<int>(device)), "cudaSetDevice");
          loaded[device] = load_frame(path, {.threads = kThreads, .device = std::to_string(device)});
        });
      for (std::thread& thread : threads) thread.join();
    });
    if (i > 0) best = std::min(best, seconds);
    for (unsigned device = 0; i == 0 && device < devices; ++device) {
      check(cudaSetDevice(static_cast<int>(device)), "cudaSetDevice");
      verified &= loaded[device].restored_on_device() && loaded[device].bytes() == bytes &&
                  is_content(loaded[device].data(), bytes, content, pinned, static_cast<int>(device));
    }
    check(cudaSetDevice(0), "cudaSetDevice");
  }
  return best;
}

// Loads a file of BGZF's members: as many copies of the corpus as fit into `most_bytes`.
void load_bgzf(const Bytes& files, const std::string& path, std::size_t most_bytes, double plain,
               std::vector<cuda::PinnedBuffer<std::byte>>& pinned) {
  constexpr int kLevel = 6;
  constexpr std::size_t kMarkerBytes = 28, kMemberBytes = 65280;
  CompressOptions options;
  options.backend = "cuda";
  options.format = Format::kBgzf;
  options.level = kLevel;
  Bytes members = compress(files, options);
  const Bytes marker(members.end() - kMarkerBytes, members.end());
  members.resize(members.size() - kMarkerBytes);
  const std::size_t copies = most_bytes / files.size(), bytes = copies * files.size();
  const Content content{files, bytes}, packed{members, copies * members.size()};
  write_new(path, copies * members.size() + kMarkerBytes, [&](std::size_t at, std::span<std::byte> part) {
    const std::size_t behind = copies * members.size() - std::min(at, copies * members.size());
    const std::size_t packed_bytes = std::min(part.size(), behind);
    packed.copy(at, part.first(packed_bytes));
    if (packed_bytes < part.size())
      std::copy_n(marker.begin() + static_cast<std::ptrdiff_t>(at + packed_bytes - copies * members.size()),
                  part.size() - packed_bytes, part.begin() + static_cast<std::ptrdiff_t>(packed_bytes));
  });
  double loading = 1e9;
  bool verified = true;
  for (int i = 0; i <= kRuns; ++i) {
    DeviceContent loaded;
    const double seconds = seconds_of([&] { loaded = load_frame(path, {.threads = kThreads}); });
    if (i > 0)
      loading = std::min(loading, seconds);
    else
      verified = loaded.restored_on_device() && loaded.bytes() == bytes &&
                 is_content(loaded.data(), bytes, content, pinned);
  }
  unlink(path.c_str());
  print_row("load, BGZF", "bgzf", kMemberBytes, kLevel, 1, bytes,
            static_cast<double>(bytes) / static_cast<double>(copies * members.size()), loading,
            "read and upload the uncompressed file",
            plain * static_cast<double>(bytes) / static_cast<double>(most_bytes), verified);
}

// Many files in one call: frames with one block, or short .gz, which the processor wrote.
void load_many(Format format, const std::string& folder, std::byte* d_content, const Content& content) {
  constexpr std::size_t kFiles = 2000, kFileBytes = 256'000;
  std::vector<std::string> paths;
  std::uint64_t many_bytes = 0;
  for (std::size_t i = 0; i < kFiles; ++i) {
    paths.push_back(fmt::format("{}/{}", folder, i));
    std::byte* const d_file = d_content + i * kFileBytes;
    if (format == Format::kLz4) {
      many_bytes += save_frame({d_file, kFileBytes}, paths.back(), {.threads = 1});
      continue;
    }
    Bytes file(kFileBytes);
    content.copy(i * kFileBytes, file);
    CompressOptions options;
    options.backend = "cpu";
    options.format = format;
    options.level = 1;
    const Bytes packed = compress(file, options);
    write_new(paths.back(), packed.size(), [&](std::size_t at, std::span<std::byte> part) {
      std::copy_n(packed.begin() + static_cast<std::ptrdiff_t>(at), part.size(), part.begin());
    });
    many_bytes += packed.size();
  }
  double many = 1e9;
  bool verified = true;
  for (int i = 0; i <= kRuns; ++i) {
    std::vector<DeviceContent> loaded;
    const double seconds = seconds_of([&] { loaded = load_frames(paths, {.threads = kThreads}); });
    if (i > 0) many = std::min(many, seconds);
    for (std::size_t number = 0; i == 0 && number < kFiles; ++number) {
      Bytes back(loaded[number].bytes());
      check(cudaMemcpy(back.data(), loaded[number].data(), back.size(), cudaMemcpyDeviceToHost),
            "cudaMemcpy");
      verified &= loaded[number].restored_on_device() && back.size() == kFileBytes &&
                  content.is(number * kFileBytes, back);
    }
  }
  for (const std::string& path : paths) unlink(path.c_str());
  print_row("load, many", format == Format::kLz4 ? "lz4" : "gzip", kBlockBytes, 1, kFiles,
            kFiles * kFileBytes, static_cast<double>(kFiles * kFileBytes) / static_cast<double>(many_bytes),
            many, "", 0, verified);
}

int run(const fs::path& corpora, const std::string& folder) {
  Bytes files;
  for (const auto& file : fs::directory_iterator(corpora / "silesia")) {
    const Bytes bytes = testing::read_file(file.path());
    files.insert(files.end(), bytes.begin(), bytes.end());
  }
  must(!files.empty(), "finding files in " + corpora.string() + "/silesia");
  struct statvfs space {};
  must(statvfs(folder.c_str(), &space) == 0, "statvfs");
  // Room for the file, a compressed one, and the file of the floor.
  const std::size_t free_bytes = space.f_bavail * space.f_frsize;
  const std::size_t bytes = std::min(kMostBytes, free_bytes / 2);
  const Content content{files, bytes};
  const std::string uncompressed = folder + "/uncompressed", compressed = folder + "/compressed",
                    floor = folder + "/floor";

  std::vector<cuda::PinnedBuffer<std::byte>> pinned;
  for (unsigned i = 0; i < kThreads; ++i) pinned.emplace_back(2 * kPieceBytes);
  const DeviceArray<std::byte> d_content(bytes);
  write_new(uncompressed, bytes, [&](std::size_t at, std::span<std::byte> part) { content.copy(at, part); });
  double plain = 1e9;
  for (int i = 0; i <= kRuns; ++i)
    plain = std::min(plain, read_and_upload(uncompressed, bytes, d_content.data, pinned));
  must(is_content(d_content.data, bytes, content, pinned), "uploading");
  unlink(uncompressed.c_str());

  for (const int level : {1, 3, 9}) {
    FrameSaveOptions options;
    options.level = level;
    options.threads = kThreads;
    double saving = 1e9, writing = 1e9, loading = 1e9, first = 0;
    std::uint64_t compressed_bytes = 0;
    for (int i = 0; i < kRuns; ++i) {
      unlink(compressed.c_str());
      saving = std::min(saving, seconds_of([&] {
                          compressed_bytes = save_frame({d_content.data, bytes}, compressed, options);
                        }));
      writing =
          std::min(writing, write_new(floor, compressed_bytes, [](std::size_t, std::span<std::byte>) {}));
      unlink(floor.c_str());
    }
    const double ratio = static_cast<double>(bytes) / static_cast<double>(compressed_bytes);
    bool verified = true;
    for (int i = 0; i <= kRuns; ++i) {
      DeviceContent loaded;
      const double seconds = seconds_of([&] { loaded = load_frame(compressed, {.threads = kThreads}); });
      if (i == 0) {
        first = seconds;
        verified = loaded.restored_on_device() && loaded.bytes() == bytes &&
                   is_content(loaded.data(), bytes, content, pinned);
      } else {
        loading = std::min(loading, seconds);
      }
    }
    print_row("save", "lz4", kBlockBytes, level, 1, bytes, ratio, saving, "floor: write as many bytes",
              writing, verified);
    if (level == 1)
      print_row("load, first", "lz4", kBlockBytes, level, 1, bytes, ratio, first, "", 0, verified);
    print_row("load", "lz4", kBlockBytes, level, 1, bytes, ratio, loading,
              "read and upload the uncompressed file", plain, verified);
    if (const unsigned devices = device_count(); devices > 1) {
      bool each_verified = true;
      const double each = load_to_every_device(compressed, devices, content, bytes, pinned, each_verified);
      print_row("load, each device", "lz4", kBlockBytes, level, devices, devices * bytes, ratio, each,
                "one device after the other", devices * loading, each_verified);
    }
    unlink(compressed.c_str());
  }

  load_bgzf(files, compressed, bytes, plain, pinned);
  for (const Format format : {Format::kLz4, Format::kGzip})
    load_many(format, folder, d_content.data, content);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 1;
  }
  namespace fs = std::filesystem;
  const fs::path memory = "/dev/shm";
  std::string folder =
      ((access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path()) / "hemstitch-XXXXXX")
          .string();
  if (mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 1;
  }
  int status = 1;
  try {
    status = hemstitch::run(arguments[1], folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  fs::remove_all(folder);
  return status;
}
