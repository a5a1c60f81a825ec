// Many files in one buffer, on the host and, where that is asked for, on a device of CUDA or WebGPU as well.
//
//   hemstitch::CompactedBuffer files = hemstitch::load_files(paths);
//   for (std::size_t i = 0; i < files.count(); ++i) use(files.name(i), files.span(i));
//   for (const hemstitch::SkippedFile& file : files.skipped()) complain(file.name, file.reason);
//
// A file that cannot be read, goes away, or changes its size meanwhile is left out, with the reason; so is an empty one, and
// one whose size is not known before, as in /proc.
// The others are read by many threads, each straight to its place. Where memory is to be bounded, FileLoader gives the
// same in batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hemstitch/hemstitch.hpp"
#include "hemstitch/webgpu.hpp"

namespace hemstitch {

struct LoadOptions {
  unsigned threads = 0;                  // 0: one a core
  std::uint64_t memory_limit_bytes = 0;  // 0: none; of a batch's contents
  bool oversize_alone = false;           // a file beyond the limit is a batch by itself, rather than skipped
  bool to_device = false;                // also to a CUDA device; the host's memory is pinned then
  std::string device = {};  // which, as CompressOptions::device; empty: the calling thread's current one
  std::optional<WebgpuDevice> webgpu = {};  // also to buffers of this device
  // Opens the file of a path, which is given by its place in the list, for reading; as open() does, from any thread. By default
  // the path is opened, through whatever links it leads.
  std::function<int(std::size_t index)> open_file = {};
};

struct SkippedFile {
  enum class Why { kUnreadable, kFolder, kNotRegular, kEmpty, kChanged, kTooLarge };
  std::size_t index;  // in the list of paths
  std::string name;
  Why why;
  std::string reason;  // "No such file or directory"
};

// The contents of files, one behind the other in the order of their paths. Owns its memory. Any number of threads may read it.
class HEMSTITCH_API CompactedBuffer {
 public:
  CompactedBuffer();
  ~CompactedBuffer();
  CompactedBuffer(CompactedBuffer&&) noexcept;
  CompactedBuffer& operator=(CompactedBuffer&&) noexcept;

  std::size_t count() const;
  const std::string& name(std::size_t file) const;
  std::size_t index(std::size_t file) const;  // in the list of paths
  std::span<const std::byte> span(std::size_t file) const;

  std::span<const std::byte> bytes() const;        // of all files
  std::span<const std::uint64_t> offsets() const;  // count() + 1; the last is the size of bytes()
  const std::vector<SkippedFile>& skipped() const;

  // The same on the device, complete when load_files() returns; NULL without to_device, and where there is nothing.
  const std::byte* d_bytes() const;
  const std::uint64_t* d_offsets() const;

  // WGPUBuffers on the device of LoadOptions::webgpu, complete for all that is queued there later; NULL without one. The bytes, then at least
  // 16 zeros; the offsets as words of 32 bits. They live as long as this object, unless they are given a reference.
  void* webgpu_bytes() const;
  void* webgpu_offsets() const;

  struct Contents;

 private:
  friend class FileLoader;
  std::unique_ptr<Contents> contents_;
};

// Loads files in batches of no more contents than the limit. A file that is larger than the limit is
// skipped, unless `oversize_alone`.
//   FileLoader loader(paths, options);
//   while (!loader.done()) use(loader.next());
class HEMSTITCH_API FileLoader {
 public:
  FileLoader(std::vector<std::string> paths, const LoadOptions& options = {});
  ~FileLoader();
  FileLoader(const FileLoader&) = delete;
  FileLoader& operator=(const FileLoader&) = delete;

  bool done() const;
  CompactedBuffer next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// All files at once. Throws kMemoryLimit where they are more than the limit together, kDeviceUnavailable where to_device
// asks for what is not there.
HEMSTITCH_API CompactedBuffer load_files(std::vector<std::string> paths, const LoadOptions& options = {});

}  // namespace hemstitch
