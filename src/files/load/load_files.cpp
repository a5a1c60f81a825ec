// Loading has three steps. Many threads query the sizes; a scan computes the places; many threads read the
// contents directly to their places, and upload them in groups as they complete. A file that no longer has
// its size is left out, and the files after it are moved up: this is rare, and a copy in memory.
//
// It uses threads rather than io_uring: a small file costs open, fstat, read and close, which the kernel must
// do in either case.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "core/descriptor.hpp"
#include "core/large_buffer.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "core/status.hpp"
#include "files/load/read_contents.hpp"
#include "files/memory/file_memory.hpp"
#include "files/memory/file_memory_webgpu.hpp"
#include "hemstitch/files.hpp"

namespace hemstitch {
namespace {

// Contents that one thread reads, and uploads in one copy: large, so that beginning the copy costs little.
constexpr std::uint64_t kGroupBytes = 2 << 20;
// The most files in a group, so that thousands of tiny files are divided among threads too.
constexpr std::size_t kGroupFiles = 64;

// Keeps the memory of finished batches for later ones: touching new memory costs more than reading small
// files into it.
class BatchMemory {
 public:
  struct Piece {
    std::size_t bytes = 0;
    LargeBuffer buffer;
  };

  Piece take(std::size_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      if (!waiting_.empty()) {
        Piece piece = std::move(waiting_.back());
        waiting_.pop_back();
        if (piece.bytes >= bytes) return piece;
      }
    }
    // Rounded up, so that batches of similar size can use each other's memory.
    const std::size_t rounded = (bytes + kRoundBytes - 1) / kRoundBytes * kRoundBytes;
    return {rounded, LargeBuffer(rounded)};
  }
  void give_back(Piece piece) noexcept {
    const std::scoped_lock lock(mutex_);
    try {
      waiting_.push_back(std::move(piece));
    } catch (const std::bad_alloc&) {  // no memory to keep it, so it is freed
    }
  }

 private:
  static constexpr std::size_t kRoundBytes = 64 << 10;

  std::mutex mutex_;
  std::vector<Piece> waiting_;
};

class HostFileMemory : public FileMemory {
 public:
  HostFileMemory(std::size_t bytes, std::shared_ptr<BatchMemory> memory)
      : bytes_(bytes), memory_(std::move(memory)), piece_(memory_->take(bytes)) {}
  ~HostFileMemory() override { memory_->give_back(std::move(piece_)); }
  std::span<std::byte> bytes() override { return {piece_.buffer.get(), bytes_}; }
  void follow(std::size_t, std::size_t) override {}
  void finish(std::span<const std::uint64_t>) override {}
  const std::byte* d_bytes() const override { return nullptr; }
  const std::uint64_t* d_offsets() const override { return nullptr; }

 private:
  std::size_t bytes_;
  std::shared_ptr<BatchMemory> memory_;  // may outlive the loader
  BatchMemory::Piece piece_;
};

using Skip = std::optional<SkippedFile>;

SkippedFile skipped(std::size_t index, const std::string& name, NoContents none) {
  return {index, name, none.why, std::move(none.reason)};
}

struct Sized {
  std::uint64_t bytes = 0;
  Skip skip;
};

int open_file(std::size_t index, const std::string& path, const LoadOptions& options) {
  return options.open_file ? options.open_file(index) : open(path.c_str(), kReadContentsFlags);
}

bool find_status(std::size_t index, const std::string& path, const LoadOptions& options,
                 struct stat& status) {
  if (!options.open_file) return stat(path.c_str(), &status) == 0;
  const Descriptor file(options.open_file(index));
  return file.number() >= 0 && fstat(file.number(), &status) == 0;
}

Sized size_of(std::size_t index, const std::string& path, const LoadOptions& options) {
  const std::uint64_t limit_bytes = options.oversize_alone ? 0 : options.memory_limit_bytes;
  struct stat status {};
  if (!find_status(index, path, options, status)) return {0, skipped(index, path, unreadable(errno))};
  if (auto none = no_regular_file(status)) return {0, skipped(index, path, std::move(*none))};
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes == 0)
    return {0, skipped(index, path, of_size_zero(Descriptor(open_file(index, path, options)).number()))};
  if (limit_bytes != 0 && bytes > limit_bytes)
    return {0, skipped(index, path,
                       {SkippedFile::Why::kTooLarge,
                        fmt::format("{} bytes, and the memory limit is {}", bytes, limit_bytes)})};
  return {bytes, std::nullopt};
}

// Fills `into` with the whole file, or returns why it could not.
Skip read_file(std::size_t index, const std::string& path, const LoadOptions& options,
               std::span<std::byte> into) {
  const Descriptor file(open_file(index, path, options));
  std::optional<NoContents> none =
      file.number() < 0 ? std::optional(unreadable(errno)) : read_contents(file.number(), into);
  if (!none) return std::nullopt;
  return skipped(index, path, std::move(*none));
}

}  // namespace

struct CompactedBuffer::Contents {
  std::unique_ptr<FileMemory> memory;
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::string> names;
  std::vector<std::size_t> indices;
  std::vector<SkippedFile> skipped;
};

CompactedBuffer::CompactedBuffer() : contents_(std::make_unique<Contents>()) {}
CompactedBuffer::~CompactedBuffer() = default;
CompactedBuffer::CompactedBuffer(CompactedBuffer&&) noexcept = default;
CompactedBuffer& CompactedBuffer::operator=(CompactedBuffer&&) noexcept = default;

std::size_t CompactedBuffer::count() const { return contents_->names.size(); }
const std::string& CompactedBuffer::name(std::size_t file) const { return contents_->names.at(file); }
std::size_t CompactedBuffer::index(std::size_t file) const { return contents_->indices.at(file); }

std::span<const std::byte> CompactedBuffer::span(std::size_t file) const {
  const std::uint64_t begin = contents_->offsets.at(file);
  return bytes().subspan(begin, contents_->offsets.at(file + 1) - begin);
}

std::span<const std::byte> CompactedBuffer::bytes() const {
  if (!contents_->memory) return {};
  return contents_->memory->bytes().first(contents_->offsets.back());
}

std::span<const std::uint64_t> CompactedBuffer::offsets() const { return contents_->offsets; }
const std::vector<SkippedFile>& CompactedBuffer::skipped() const { return contents_->skipped; }

const std::byte* CompactedBuffer::d_bytes() const {
  return contents_->memory ? contents_->memory->d_bytes() : nullptr;
}
const std::uint64_t* CompactedBuffer::d_offsets() const {
  return contents_->memory ? contents_->memory->d_offsets() : nullptr;
}

void* CompactedBuffer::webgpu_bytes() const {
  return contents_->memory ? contents_->memory->webgpu_bytes() : nullptr;
}
void* CompactedBuffer::webgpu_offsets() const {
  return contents_->memory ? contents_->memory->webgpu_offsets() : nullptr;
}

struct FileLoader::Impl {
  std::vector<std::string> paths;
  LoadOptions options;
  Threads threads;
  std::vector<Sized> sizes;  // of all paths, once they were queried
  std::shared_ptr<BatchMemory> batch_memory = std::make_shared<BatchMemory>();
  std::size_t next_path = 0;

  Impl(std::vector<std::string> given, const LoadOptions& how)
      : paths(std::move(given)), options(how), threads(resolve_threads(how.threads)), sizes(paths.size()) {
    threads.arena().execute([&] {
      run_in_parallel(paths.size(), kGroupFiles,
                      [&](std::size_t i) { sizes[i] = size_of(i, paths[i], options); });
    });
  }

  // How many of the next paths fit into a batch.
  std::size_t paths_of_batch() const {
    std::uint64_t bytes = 0;
    std::size_t end = next_path;
    for (; end < paths.size(); ++end) {
      if (options.memory_limit_bytes != 0 && bytes != 0 &&
          bytes + sizes[end].bytes > options.memory_limit_bytes)
        break;
      bytes += sizes[end].bytes;
    }
    return end - next_path;
  }
};

FileLoader::FileLoader(std::vector<std::string> paths, const LoadOptions& options)
    : impl_(std::make_unique<Impl>(std::move(paths), options)) {}
FileLoader::~FileLoader() = default;

bool FileLoader::done() const { return impl_->next_path == impl_->paths.size(); }

CompactedBuffer FileLoader::next() {
  struct FilePlace {
    std::size_t index;
    std::uint64_t begin;
    std::uint64_t bytes;
    Skip skip;
  };
  CompactedBuffer result;
  CompactedBuffer::Contents& contents = *result.contents_;
  const std::size_t first = impl_->next_path, count = impl_->paths_of_batch();
  impl_->next_path += count;

  // A group ends when it reaches a size, so that each thread reads and uploads about as much.
  std::vector<FilePlace> places;
  std::vector<std::size_t> group_begins;
  std::uint64_t bytes = 0;
  for (std::size_t i = first; i < first + count; ++i) {
    if (impl_->sizes[i].skip) {
      contents.skipped.push_back(*impl_->sizes[i].skip);
      continue;
    }
    if (group_begins.empty() || bytes - places[group_begins.back()].begin >= kGroupBytes ||
        places.size() - group_begins.back() >= kGroupFiles)
      group_begins.push_back(places.size());
    places.push_back({i, bytes, impl_->sizes[i].bytes, std::nullopt});
    bytes += impl_->sizes[i].bytes;
  }
  if (impl_->options.to_device)
    contents.memory = make_cuda_file_memory(bytes, impl_->options.device);
  else
    contents.memory = std::make_unique<HostFileMemory>(bytes, impl_->batch_memory);
  if (impl_->options.webgpu)
    contents.memory = with_webgpu_memory(std::move(contents.memory), impl_->options.webgpu->shared());
  const std::span<std::byte> memory = contents.memory->bytes();
  group_begins.push_back(places.size());
  impl_->threads.arena().execute([&] {
    run_in_parallel(group_begins.size() - 1, 1, [&](std::size_t group) {
      const std::size_t begin = group_begins[group], end = group_begins[group + 1];
      for (std::size_t i = begin; i < end; ++i) {
        FilePlace& place = places[i];
        place.skip = read_file(place.index, impl_->paths[place.index], impl_->options,
                               memory.subspan(place.begin, place.bytes));
      }
      contents.memory->follow(places[begin].begin, places[end - 1].begin + places[end - 1].bytes);
    });
  });

  // The first place whose content was moved; from there on, everything is uploaded again.
  std::uint64_t moved_from = bytes;
  for (FilePlace& place : places) {
    if (place.skip) {
      contents.skipped.push_back(std::move(*place.skip));
      continue;
    }
    const std::uint64_t begin = contents.offsets.back();
    if (begin != place.begin) {
      moved_from = std::min(moved_from, begin);
      std::memmove(memory.data() + begin, memory.data() + place.begin, place.bytes);
    }
    contents.offsets.push_back(begin + place.bytes);
    contents.names.push_back(impl_->paths[place.index]);
    contents.indices.push_back(place.index);
  }
  if (moved_from < contents.offsets.back()) contents.memory->follow(moved_from, contents.offsets.back());
  contents.memory->finish(contents.offsets);
  std::sort(contents.skipped.begin(), contents.skipped.end(),
            [](const SkippedFile& a, const SkippedFile& b) { return a.index < b.index; });
  return result;
}

CompactedBuffer load_files(std::vector<std::string> paths, const LoadOptions& options) {
  FileLoader loader(std::move(paths), options);
  CompactedBuffer files = loader.next();
  if (!loader.done())
    throw Error(Status::kMemoryLimit,
                fmt::format("the files do not fit into {} bytes together", options.memory_limit_bytes));
  return files;
}

}  // namespace hemstitch
