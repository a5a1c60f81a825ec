// Searches files on a CUDA device: uploads them and searches there, or restores them there and searches.
// Their texts go to the host only if lines of them are wanted.
//
//   compressed files, format by format:
//   headers (host) | sizes | restore, gather of stored blocks, checksums | count, write | download
#include <algorithm>
#include <optional>

#include "compact/gather/gather_cuda.hpp"
#include "core/parallel.hpp"
#include "format/format.hpp"
#include "format/formats_cuda.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/growing_buffer.hpp"
#include "gpu/cuda/staged_upload.hpp"
#include "search/compressed_texts.hpp"
#include "search/search_cuda.hpp"
#include "search/search_cuda_device.hpp"

namespace hemstitch {
namespace {

using cuda::check;
using cuda::DeviceBuffer;
using cuda::GrowingBuffer;

// How many files a thread reads the headers of in a row.
constexpr std::size_t kReadGrain = 16;
// How many bytes of text are restored at once. A larger text, if it is allowed, is restored alone.
constexpr std::uint64_t kGroupBytes = std::uint64_t{256} << 20;

// A block of a file, to be restored on the device.
struct Block {
  std::size_t file;
  const std::byte* d_data;
  IndexedBlock block;
  std::size_t most_restored_bytes;
  std::uint32_t restored_bytes = 0;
};

struct File {
  std::size_t file;
  FrameIndex index;
  std::size_t first_block;  // among all Blocks
  std::uint64_t bytes = 0;  // size of the restored text
  bool good = true;

  void leave() {
    good = false;
    bytes = 0;
  }
};

class CudaSearch : public DeviceSearch {
 public:
  CudaSearch(cuda::Device& device, const PatternSet& patterns) : device_(device), table_(patterns) {
    device.make_current();
    stream_.emplace();
    staged_upload_.emplace(device);
    patterns_ = {table_.places, d_table_.upload(table_.words, stream())};
    d_total_ = DeviceBuffer<std::uint64_t>(1, stream(), device.memory());
    stream_->synchronize();  // other streams read the patterns too
  }

  void use_in_this_thread() override { device_.make_current(); }

  std::vector<PackedMatch> find(const SearchTexts& texts) override {
    if (texts.bytes.empty()) return {};
    const std::span<const PackedMatch> matches = search(
        {bring(texts.bytes), texts.bytes.size(), d_offsets_.upload(texts.offsets, stream()), texts.count()});
    return {matches.begin(), matches.end()};
  }

  void find_in_compressed(const SearchTexts& files, std::uint64_t most_bytes, bool texts,
                          const std::function<void(std::span<const RestoredFile>)>& take) override {
    std::vector<std::optional<FrameIndex>> read(files.count());
    run_in_parallel(files.count(), kReadGrain,
                    [&](std::size_t file) { read[file] = index_text(files.text(file)); });
    const std::byte* const d_bytes = bring(files.bytes);
    for (const auto& format : cuda::device_formats()) {
      if (!format->restores()) continue;
      format_ = format.get();
      files_.clear();
      blocks_.clear();
      for (std::size_t file = 0; file < files.count(); ++file)
        if (read[file] && read[file]->format->id() == format->id())
          add_file(file, std::move(*read[file]), d_bytes + files.offsets[file]);
      measure();
      for (File& file : files_)
        if (file.bytes > most_bytes) file.leave();
      find_in_groups(std::min(kGroupBytes, most_bytes), texts, take);
    }
  }

  std::size_t temp_bytes(const CudaTexts& texts) const override {
    return cuda::search_cuda_scratch_bytes(texts);
  }
  void count_async(const CudaTexts& texts, std::uint64_t* d_count, void* d_temp, std::size_t temp_bytes,
                   CUstream_st* stream) const override {
    device_.make_current();
    cuda::count_matches_cuda(texts, patterns_, d_count, d_temp, temp_bytes, stream);
  }
  void write_async(const CudaTexts& texts, std::uint64_t* d_matches, std::uint64_t room, void* d_temp,
                   std::size_t temp_bytes, CUstream_st* stream) const override {
    static_assert(sizeof(PackedMatch) == sizeof *d_matches);
    device_.make_current();
    cuda::write_matches_cuda(texts, patterns_, reinterpret_cast<PackedMatch*>(d_matches), room, d_temp,
                             temp_bytes, stream);
  }

 private:
  cudaStream_t stream() const { return stream_->get(); }

  void add_file(std::size_t number, FrameIndex index, const std::byte* d_file) {
    const std::size_t first_block = blocks_.size();
    for (const IndexedFrame& frame : index.frames)
      for (const IndexedBlock& block : index.blocks_of(frame))
        blocks_.push_back({files_.size(), d_file + block.at, block, frame.header.block_bytes});
    files_.push_back({number, std::move(index), first_block});
  }

  const std::byte* bring(std::span<const std::byte> bytes) {
    std::byte* const d_bytes = d_files_.at_least(std::max<std::size_t>(bytes.size(), 1), stream());
    staged_upload_->copy(d_bytes, bytes, stream());
    return d_bytes;
  }

  // Counts the matches, makes room, writes and downloads them.
  std::span<const PackedMatch> search(const CudaTexts& texts) {
    const std::size_t scratch_bytes = cuda::search_cuda_scratch_bytes(texts);
    std::byte* const d_scratch = d_scratch_.at_least(scratch_bytes, stream());
    cuda::count_matches_cuda(texts, patterns_, d_total_.get(), d_scratch, scratch_bytes, stream());
    std::uint64_t total = 0;
    download(&total, d_total_.get(), sizeof total);
    stream_->synchronize();
    if (total == 0) return {};
    PackedMatch* const d_matches = d_matches_.at_least(total, stream());
    cuda::write_matches_cuda(texts, patterns_, d_matches, total, d_scratch, scratch_bytes, stream());
    auto* const matches = reinterpret_cast<PackedMatch*>(matches_.at_least(total * sizeof(PackedMatch)));
    download(matches, d_matches, total * sizeof(PackedMatch));
    stream_->synchronize();
    return {matches, total};
  }

  void download(void* to, const void* d_from, std::size_t bytes) const {
    if (bytes != 0)
      check(cudaMemcpyAsync(to, d_from, bytes, cudaMemcpyDeviceToHost, stream()), "cudaMemcpyAsync");
  }

  // Restores blocks to their outputs or, without outputs, determines their sizes. `blocks` are indices of
  // blocks_. Returns whether each block was restored; sets restored_bytes if only sizes are determined.
  std::vector<bool> restore(std::span<const std::size_t> blocks, std::span<std::byte* const> d_outputs) {
    std::vector<const std::byte*> data;
    std::vector<std::size_t> bytes, capacities, restored(blocks.size());
    std::vector<hemstitch_status> statuses(blocks.size());
    cuda::DeviceRestore batch;
    for (const std::size_t number : blocks) {
      const Block& block = blocks_[number];
      data.push_back(block.d_data);
      bytes.push_back(block.block.data_bytes);
      capacities.push_back(d_outputs.empty() ? block.most_restored_bytes : block.restored_bytes);
      batch.max_capacity = std::max(batch.max_capacity, capacities.back());
      batch.max_block_bytes = std::max(batch.max_block_bytes, bytes.back());
    }
    if (blocks.empty()) return {};
    batch.d_blocks = d_data_.upload(data, stream());
    batch.d_block_bytes = d_bytes_.upload(bytes, stream());
    batch.d_capacities = d_capacities_.upload(capacities, stream());
    if (!d_outputs.empty()) batch.d_outputs = d_outputs_.upload(d_outputs, stream());
    batch.d_output_bytes = d_restored_.at_least(blocks.size(), stream());
    batch.d_statuses = d_statuses_.at_least(blocks.size(), stream());
    batch.count = blocks.size();
    const std::size_t scratch_bytes = format_->restore_scratch_bytes(batch);
    format_->restore(batch, d_scratch_.at_least(scratch_bytes, stream()), scratch_bytes, stream());
    download(restored.data(), batch.d_output_bytes, restored.size() * sizeof restored[0]);
    download(statuses.data(), batch.d_statuses, statuses.size() * sizeof statuses[0]);
    stream_->synchronize();
    std::vector<bool> done(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      Block& block = blocks_[blocks[i]];
      if (d_outputs.empty()) block.restored_bytes = static_cast<std::uint32_t>(restored[i]);
      done[i] = statuses[i] == HEMSTITCH_OK && restored[i] == block.restored_bytes;
    }
    return done;
  }

  // Determines the size of every file's text. A file that cannot be restored, or to another size than it
  // states, is marked as not good. The size that a block states is believed here, and checked when the block
  // is restored.
  void measure() {
    std::vector<std::size_t> encoded;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].block.stored)
        blocks_[i].restored_bytes = blocks_[i].block.data_bytes;
      else if (blocks_[i].block.content_bytes)
        blocks_[i].restored_bytes = *blocks_[i].block.content_bytes;
      else
        encoded.push_back(i);
    }
    const std::vector<bool> done = restore(encoded, {});
    for (std::size_t i = 0; i < encoded.size(); ++i)
      if (!done[i]) files_[blocks_[encoded[i]].file].good = false;
    for (File& file : files_) {
      for (const IndexedFrame& frame : file.index.frames) {
        const std::uint64_t bytes = content_bytes(file, frame);
        if (frame.header.content_bytes && *frame.header.content_bytes != bytes) file.good = false;
        file.bytes += bytes;
      }
      if (!file.good) file.leave();
    }
  }

  std::uint64_t content_bytes(const File& file, const IndexedFrame& frame) const {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < frame.block_count; ++i)
      bytes += blocks_[file.first_block + frame.first_block + i].restored_bytes;
    return bytes;
  }

  // Searches all files, in groups that restore to `most_bytes` at most.
  void find_in_groups(std::uint64_t most_bytes, bool texts,
                      const std::function<void(std::span<const RestoredFile>)>& take) {
    for (std::size_t begin = 0, end = 0; begin < files_.size(); begin = end) {
      std::uint64_t bytes = 0;
      for (end = begin; end < files_.size() && (end == begin || bytes + files_[end].bytes <= most_bytes);
           ++end)
        bytes += files_[end].bytes;
      find_in_group(std::span(files_).subspan(begin, end - begin), bytes, texts, take);
    }
  }

  void find_in_group(std::span<File> files, std::uint64_t bytes, bool texts,
                     const std::function<void(std::span<const RestoredFile>)>& take) {
    std::byte* const d_text = d_text_.at_least(std::max<std::uint64_t>(bytes, 1), stream());

    std::vector<std::size_t> encoded;
    std::vector<std::byte*> outputs;
    std::vector<const std::byte*> stored;
    std::vector<std::uint32_t> stored_bytes;
    std::vector<std::uint64_t> stored_at, offsets{0};
    struct Checksum {
      File* file;
      std::uint32_t expected;
    };
    std::vector<Checksum> checksums;
    std::vector<const std::byte*> checked;
    std::vector<std::size_t> checked_bytes;
    const auto check_span = [&](File& file, std::uint32_t expected, const std::byte* d_span,
                                std::uint64_t size) {
      checksums.push_back({&file, expected});
      checked.push_back(d_span);
      checked_bytes.push_back(size);
    };
    for (File& file : files) {
      std::uint64_t at = offsets.back();
      offsets.push_back(at + file.bytes);
      if (!file.good) continue;
      for (const IndexedFrame& frame : file.index.frames) {
        const std::uint64_t frame_at = at;
        for (std::size_t i = 0; i < frame.block_count; ++i) {
          const std::size_t number = file.first_block + frame.first_block + i;
          const Block& block = blocks_[number];
          if (block.block.checksum)
            check_span(file, *block.block.checksum, block.d_data, block.block.data_bytes);
          if (block.block.stored) {
            stored.push_back(block.d_data);
            stored_bytes.push_back(block.restored_bytes);
            stored_at.push_back(at);
          } else {
            encoded.push_back(number);
            outputs.push_back(d_text + at);
          }
          if (block.block.content_checksum)
            check_span(file, *block.block.content_checksum, d_text + at, block.restored_bytes);
          at += block.restored_bytes;
        }
        if (frame.content_checksum)
          check_span(file, *frame.content_checksum, d_text + frame_at, at - frame_at);
      }
    }

    const std::vector<bool> done = restore(encoded, outputs);
    for (std::size_t i = 0; i < encoded.size(); ++i)
      if (!done[i]) files_[blocks_[encoded[i]].file].good = false;
    if (!stored.empty())
      cuda::gather_pieces_cuda(
          d_data_.upload(stored, stream()), d_stored_bytes_.upload(stored_bytes, stream()),
          d_stored_at_.upload(stored_at, stream()), stored.size(), d_text, nullptr, 0, stream());
    if (!checksums.empty()) {
      std::uint32_t* const d_hashes = d_hashes_.at_least(checksums.size(), stream());
      format_->checksums(d_checked_.upload(checked, stream()), d_bytes_.upload(checked_bytes, stream()),
                         checksums.size(), d_hashes, stream());
      std::vector<std::uint32_t> hashes(checksums.size());
      download(hashes.data(), d_hashes, hashes.size() * sizeof hashes[0]);
      stream_->synchronize();
      for (std::size_t i = 0; i < checksums.size(); ++i)
        if (hashes[i] != checksums[i].expected) checksums[i].file->good = false;
    }

    std::span<const PackedMatch> left;
    if (bytes != 0) left = search({d_text, bytes, d_offsets_.upload(offsets, stream()), files.size()});
    std::vector<RestoredFile> found;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const auto end =
          std::lower_bound(left.begin(), left.end(), offsets[i + 1],
                           [](PackedMatch match, std::uint64_t at) { return match.position() < at; });
      const auto own = static_cast<std::size_t>(end - left.begin());
      if (files[i].good) found.push_back({files[i].file, {}, left.first(own), offsets[i]});
      left = left.subspan(own);
    }
    if (texts) download_texts(d_text, files, found);
    take(found);
  }

  // Downloads the texts of the files with matches, one after the other, into pinned memory; neighbours in one
  // copy.
  void download_texts(const std::byte* d_text, std::span<const File> files, std::span<RestoredFile> found) {
    struct Neighbours {
      std::uint64_t begin, bytes;
    };
    std::vector<Neighbours> wanted;
    std::vector<std::uint64_t> places;  // where the texts with matches are
    std::uint64_t bytes = 0;
    std::size_t number = 0;  // the next index in `files`
    for (const RestoredFile& one : found) {
      while (files[number].file != one.file) ++number;
      if (one.matches.empty()) continue;
      if (wanted.empty() || wanted.back().begin + wanted.back().bytes != one.begin)
        wanted.push_back({one.begin, 0});
      wanted.back().bytes += files[number].bytes;
      places.push_back(bytes);
      bytes += files[number].bytes;
    }
    places.push_back(bytes);
    std::byte* const h_text = text_.at_least(std::max<std::uint64_t>(bytes, 1));
    std::uint64_t done = 0;
    for (const Neighbours& one : wanted) {
      download(h_text + done, d_text + one.begin, one.bytes);
      done += one.bytes;
    }
    stream_->synchronize();
    std::size_t place = 0;
    for (RestoredFile& one : found) {
      if (one.matches.empty()) continue;
      one.text = {reinterpret_cast<const char*>(h_text + places[place]), places[place + 1] - places[place]};
      ++place;
    }
  }

  cuda::Device& device_;
  PatternTable table_;
  std::optional<cuda::Stream> stream_;  // must outlive the buffers
  std::optional<cuda::StagedUpload> staged_upload_;
  GrowingBuffer<std::uint32_t> d_table_{device_.memory()}, d_stored_bytes_{device_.memory()},
      d_hashes_{device_.memory()};
  cuda::DevicePatterns patterns_;
  DeviceBuffer<std::uint64_t> d_total_;
  GrowingBuffer<std::byte> d_files_{device_.memory()}, d_scratch_{device_.memory()},
      d_text_{device_.memory()};
  GrowingBuffer<PackedMatch> d_matches_{device_.memory()};
  GrowingBuffer<const std::byte*> d_data_{device_.memory()}, d_checked_{device_.memory()};
  GrowingBuffer<std::byte*> d_outputs_{device_.memory()};
  GrowingBuffer<std::size_t> d_bytes_{device_.memory()}, d_capacities_{device_.memory()},
      d_restored_{device_.memory()};
  GrowingBuffer<hemstitch_status> d_statuses_{device_.memory()};
  GrowingBuffer<std::uint64_t> d_stored_at_{device_.memory()}, d_offsets_{device_.memory()};
  cuda::GrowingPinned matches_{device_.pinned()}, text_{device_.pinned()};
  // Of the current format:
  const cuda::DeviceFormat* format_ = nullptr;
  std::vector<File> files_;
  std::vector<Block> blocks_;
};

}  // namespace

std::unique_ptr<DeviceSearch> make_cuda_search(std::string_view device, const PatternSet& patterns) {
  return std::make_unique<CudaSearch>(cuda::open_device(device), patterns);
}

}  // namespace hemstitch
