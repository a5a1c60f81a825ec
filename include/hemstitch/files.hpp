// Files and devices: many files in one buffer, on the host and, where that is asked for, on a device of CUDA or WebGPU as well;
// and compressed files to memory of a CUDA device and back, at the end of this page.
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

struct CUstream_st;

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

// ---- Compressed files to device memory and back: checkpoints, data sets ----
//
//   hemstitch::save_frame({d_weights, bytes}, "weights.lz4");
//   const hemstitch::DeviceContent weights = hemstitch::load_frame("weights.lz4");
//   use(weights.data(), weights.bytes());
//
// Compressed bytes cross the bus; what they restore to is made on the device and never touches the host. In builds without CUDA,
// and where there is no device, these throw kDeviceUnavailable with the reason.
//
// Thread safety: any number of threads may call these at once. A call uses threads and streams of its own, waits for the
// device, and leaves the calling thread's current device as it was. A DeviceContent may be read, copied and destroyed by any thread.

struct FrameLoadOptions {
  bool verify_checksums = true;  // of headers and blocks, and of the content too, unless:
  bool verify_content_checksum =
      true;                 // it is serial, a few GB/s for a frame; frames of save_frame() have none
  unsigned threads = 0;     // that read; 0: one a core
  std::string device = {};  // which, as CompressOptions::device; empty: the calling thread's current one
  // A cudaStream_t, which has to outlive the content: work that was given to it is over before the content's memory is used
  // for something else. The content itself is there when the call returns, for every stream.
  CUstream_st* stream = nullptr;
};

// What a file holds, in device memory. Copies share the memory, and the last of them gives it back.
class HEMSTITCH_API DeviceContent {
 public:
  DeviceContent() = default;
  DeviceContent(std::shared_ptr<std::byte> memory, std::uint64_t bytes, bool restored_on_device)
      : memory_(std::move(memory)), bytes_(bytes), restored_on_device_(restored_on_device) {}

  std::byte* data() const { return memory_.get(); }  // an address on the device; NULL where there is nothing
  std::uint64_t bytes() const { return bytes_; }
  // False where the processor restored it, and it was uploaded: see load_frame().
  bool restored_on_device() const { return restored_on_device_; }

 private:
  std::shared_ptr<std::byte> memory_;
  std::uint64_t bytes_ = 0;
  bool restored_on_device_ = false;
};

// Restores all frames in a file, one behind the other, whoever wrote them: LZ4, BGZF, gzip. Frames whose blocks depend on each other (linked
// blocks, legacy frames) or cannot be told apart (an ordinary .gz), and what looks damaged to the device, are left to the processor, which restores and uploads them, or finds the words
// for what is wrong: Error with the file and its frame, block and byte. Frames that need a dictionary are refused. A frame that does not
// tell its content's size takes up to twice its memory while it is loaded.
HEMSTITCH_API DeviceContent load_frame(const std::string& path, const FrameLoadOptions& options = {});

// Many files, in one run: small ones are brought to the device and restored together. All of them, or the error of the first that
// cannot be loaded.
HEMSTITCH_API std::vector<DeviceContent> load_frames(const std::vector<std::string>& paths,
                                                     const FrameLoadOptions& options = {});

struct FrameSaveOptions {
  int level = 0;                // kMinLevel..kMaxLevel; 0: the default, 1
  std::size_t block_bytes = 0;  // 64K, 256K, 1M or 4M; 0: the default, 256K
  bool block_checksums = true;
  unsigned threads = 0;  // that write; 0: one a core
  CUstream_st* stream =
      nullptr;  // a cudaStream_t: the content is what it is when the work given to it so far is over
};

// Compresses memory of a device, the one that it is on, into one frame, the same bytes as `hemstitch --backend cuda` writes, and
// returns its size. The file appears under its name when it is complete, and replaces what had the name; after an Error all is as
// it was. Whether it has reached the disk then is the system's affair.
HEMSTITCH_API std::uint64_t save_frame(std::span<const std::byte> content, const std::string& path,
                                       const FrameSaveOptions& options = {});

}  // namespace hemstitch
