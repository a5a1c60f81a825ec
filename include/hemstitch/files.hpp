// Files and devices. First part: many files in one buffer, on the host and, if asked, also on a CUDA or
// WebGPU device. Second part: compressed files to the memory of a CUDA device and back.
//
//   hemstitch::CompactedBuffer files = hemstitch::load_files(paths);
//   for (std::size_t i = 0; i < files.count(); ++i) use(files.name(i), files.span(i));
//   for (const hemstitch::SkippedFile& file : files.skipped()) complain(file.name, file.reason);
//
// Some files are skipped, with the reason: a file that cannot be read, that disappears, or whose size changes
// meanwhile; an empty file; and a file whose size is not known in advance, as in /proc. Many threads read the
// others, each straight to its place in the buffer. To limit memory, FileLoader does the same in batches.
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
  unsigned threads = 0;                  // 0: one per core
  std::uint64_t memory_limit_bytes = 0;  // limits the contents of a batch; 0: no limit
  bool oversize_alone = false;           // a file beyond the limit is a batch of its own; else it is skipped
  bool to_device = false;                // also load to a CUDA device; the host's memory is pinned then
  // Which device, as CompressOptions::device. Empty: the calling thread's current one.
  std::string device = {};
  std::optional<WebgpuDevice> webgpu = {};  // also load to buffers of this device
  // Opens a file for reading, as open() does; `index` is its place in the list of paths. Called from any
  // thread. By default the path is opened, and links are followed.
  std::function<int(std::size_t index)> open_file = {};
};

struct SkippedFile {
  enum class Why { kUnreadable, kFolder, kNotRegular, kEmpty, kChanged, kTooLarge };
  std::size_t index;  // in the list of paths
  std::string name;
  Why why;
  std::string reason;  // "No such file or directory"
};

// The contents of files, one after the other in the order of their paths. Owns its memory. Any number of
// threads may read it.
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

  std::span<const std::byte> bytes() const;        // all files together
  std::span<const std::uint64_t> offsets() const;  // count() + 1 elements; the last is the size of bytes()
  const std::vector<SkippedFile>& skipped() const;

  // The same on the CUDA device, complete when load_files() returns. NULL without to_device, and if there are
  // no bytes.
  const std::byte* d_bytes() const;
  const std::uint64_t* d_offsets() const;

  // The same as WGPUBuffers on the device of LoadOptions::webgpu, or NULL without one. They are complete for
  // all work that is queued there later. The bytes are followed by at least 16 zeros; the offsets are 32-bit
  // words. The buffers live as long as this object, unless you add a reference.
  void* webgpu_bytes() const;
  void* webgpu_offsets() const;

  struct Contents;

 private:
  friend class FileLoader;
  std::unique_ptr<Contents> contents_;
};

// Loads files in batches; the contents of a batch stay within the limit. A file larger than the limit is
// skipped, unless `oversize_alone` is set.
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

// Loads all files at once. Throws kMemoryLimit if they exceed the limit together, kDeviceUnavailable if
// to_device is set and there is no device.
HEMSTITCH_API CompactedBuffer load_files(std::vector<std::string> paths, const LoadOptions& options = {});

// ---- Compressed files to device memory and back: checkpoints, data sets ----
//
//   hemstitch::save_frame({d_weights, bytes}, "weights.lz4");
//   const hemstitch::DeviceContent weights = hemstitch::load_frame("weights.lz4");
//   use(weights.data(), weights.bytes());
//
// Compressed bytes cross the bus. They are restored on the device, and the content never touches the host. In
// builds without CUDA, and if there is no device, these functions throw kDeviceUnavailable with the reason.
//
// Thread safety: any number of threads may call these at once. A call uses its own threads and streams, waits
// for the device, and does not change the calling thread's current device. Any thread may read, copy and
// destroy a DeviceContent.

struct FrameLoadOptions {
  bool verify_checksums = true;  // of headers and blocks; of whole contents only with the next option
  // Content checksums are serial: a few GB/s per frame. Frames of save_frame() have none.
  bool verify_content_checksum = true;
  unsigned threads = 0;     // threads that read; 0: one per core
  std::string device = {};  // as CompressOptions::device; empty: the calling thread's current one
  // A cudaStream_t, which must outlive the content. When the content's memory is released, it is reused only
  // after the work given to this stream so far. The content itself is complete for every stream when the call
  // returns.
  CUstream_st* stream = nullptr;
};

// The content of a file, in device memory. Copies share the memory; the last one releases it.
class HEMSTITCH_API DeviceContent {
 public:
  DeviceContent() = default;
  DeviceContent(std::shared_ptr<std::byte> memory, std::uint64_t bytes, bool restored_on_device)
      : memory_(std::move(memory)), bytes_(bytes), restored_on_device_(restored_on_device) {}

  std::byte* data() const { return memory_.get(); }  // a device address; NULL if the content is empty
  std::uint64_t bytes() const { return bytes_; }
  // False if the processor restored the content and it was uploaded; see load_frame().
  bool restored_on_device() const { return restored_on_device_; }

 private:
  std::shared_ptr<std::byte> memory_;
  std::uint64_t bytes_ = 0;
  bool restored_on_device_ = false;
};

// Restores all frames in a file, one after the other: LZ4, BGZF or gzip, from any writer. The processor
// restores and uploads frames whose blocks depend on each other (linked blocks, legacy frames) or cannot be
// separated (an ordinary .gz). It also gets data that looks damaged to the device, and throws the Error,
// which names the file and its frame, block and byte. Frames that need a dictionary are refused. A frame that
// does not store its content's size takes up to twice its memory while it is loaded.
HEMSTITCH_API DeviceContent load_frame(const std::string& path, const FrameLoadOptions& options = {});

// Loads many files in one run: small files are uploaded and restored together. Returns all of them, or throws
// the error of the first file that cannot be loaded.
HEMSTITCH_API std::vector<DeviceContent> load_frames(const std::vector<std::string>& paths,
                                                     const FrameLoadOptions& options = {});

struct FrameSaveOptions {
  Format format = Format::kLz4;  // or kZstd: then see below
  int level = 0;                 // of the format; 0: the default, 1 (of Zstandard 3)
  std::size_t block_bytes = 0;   // 64K, 256K, 1M or 4M; 0: the default, 256K
  bool block_checksums = true;   // Zstandard's blocks have none
  unsigned threads = 0;          // threads that write; 0: one per core
  // A cudaStream_t. The content is read after the work given to this stream so far.
  CUstream_st* stream = nullptr;
};

// Compresses device memory, on the device that owns it, into one frame, and returns the frame's size. The
// bytes are those that `hemstitch --backend cuda` writes. The file gets its name when it is complete, and
// replaces a file of that name. After an Error everything is as before. The call does not wait until the file
// has reached the disk.
//
// In Zstandard, the content becomes a file of many frames, each of block_bytes (64 KB to 16 MB; 0: the default, 4 MB), with the public
// seek table behind them: any reader of the format restores it. Frames have no checksums, which are serial. They are not loaded by
// load_frame().
HEMSTITCH_API std::uint64_t save_frame(std::span<const std::byte> content, const std::string& path,
                                       const FrameSaveOptions& options = {});

}  // namespace hemstitch
