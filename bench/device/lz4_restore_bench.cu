// What restoring LZ4 blocks costs on a CUDA device.
//
//   lz4_restore_device_bench FOLDER [GIGABYTES [WHAT [BLOCK_BYTES...]]]
//
// FOLDER holds silesia/. Blocks are written by liblz4 (LZ4_compress_default), at 4 KB, 64 KB and 4 MB, and repeated, each
// copy at addresses of its own, until there are GIGABYTES (2) of output. WHAT is one or more of these letters, all by
// default:
//   k  kernels alone                  h  from pinned memory to pinned memory, transfers overlapped; half of that in flight
//   f  a tenth of that in flight      p  from 100 to 100,000 pages, spread evenly over the files, kernels alone and pinned
// Every figure is the median of seven runs after one to warm up. Prints one row of a recorded run a line; a row is verified
// when all statuses and sizes, and all bytes of the first and the last copy, are right. "mean" is the harmonic mean over
// the files.
#include <lz4.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/page.hpp"
#include "device_array.hpp"
#include "device_timing.hpp"
#include "format/lz4/restore/lz4_restore_cuda.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using cuda::check;

constexpr int kRuns = 7;

// What the runs between pinned memory share: allocating it takes longer than they do.
struct PinnedMemory {
  explicit PinnedMemory(std::size_t bytes) : blocks(bytes), output(bytes) {}
  cuda::PinnedBuffer<std::byte> blocks, output;
  cuda::Stream streams[3];
};

// A file's blocks, and as many copies of them on the device as were asked for.
class Batch {
 public:
  Batch(const std::vector<std::byte>& raw, std::size_t block_bytes, double gigabytes) : raw_(raw) {
    const std::size_t count = (raw.size() + block_bytes - 1) / block_bytes;
    std::vector<std::vector<char>> blocks(count);
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      const std::size_t begin = i * block_bytes, bytes = std::min(block_bytes, raw.size() - begin);
      blocks[i].resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes))));
      const int written =
          LZ4_compress_default(reinterpret_cast<const char*>(raw.data() + begin), blocks[i].data(),
                               static_cast<int>(bytes), static_cast<int>(blocks[i].size()));
      blocks[i].resize(static_cast<std::size_t>(written));
    });
    std::vector<std::byte> packed;
    std::vector<std::size_t> begins;
    for (const std::vector<char>& block : blocks) {
      begins.push_back(packed.size());
      const auto* bytes = reinterpret_cast<const std::byte*>(block.data());
      packed.insert(packed.end(), bytes, bytes + block.size());
      largest_ = std::max(largest_, block.size());
    }
    ratio_ = static_cast<double>(raw.size()) / static_cast<double>(packed.size());
    copies_ =
        std::max<std::size_t>(1, static_cast<std::size_t>(gigabytes * 1e9 / static_cast<double>(raw.size())));
    d_blocks_ = std::make_unique<DeviceArray<std::byte>>(packed.size() * copies_);
    const std::size_t stride = (raw.size() + 255) / 256 * 256;
    d_output_ = std::make_unique<DeviceArray<std::byte>>(stride * copies_);
    stride_ = stride;
    std::vector<const std::byte*> block_pointers;
    std::vector<std::byte*> outputs;
    for (std::size_t copy = 0; copy < copies_; ++copy) {
      check(cudaMemcpy(d_blocks_->data + copy * packed.size(), copy == 0 ? packed.data() : d_blocks_->data,
                       packed.size(), copy == 0 ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice),
            "cudaMemcpy");
      for (std::size_t i = 0; i < count; ++i) {
        block_pointers.push_back(d_blocks_->data + copy * packed.size() + begins[i]);
        block_at_.push_back(copy * packed.size() + begins[i]);
        output_at_.push_back(copy * stride + i * block_bytes);
        block_sizes_.push_back(blocks[i].size());
        outputs.push_back(d_output_->data + copy * stride + i * block_bytes);
        sizes_.push_back(std::min(block_bytes, raw.size() - i * block_bytes));
      }
    }
    d_block_pointers_ = std::make_unique<DeviceArray<const std::byte*>>(block_pointers);
    d_output_pointers_ = std::make_unique<DeviceArray<std::byte*>>(outputs);
    d_block_bytes_ = std::make_unique<DeviceArray<std::size_t>>(block_sizes_);
    d_capacities_ = std::make_unique<DeviceArray<std::size_t>>(sizes_);
    d_sizes_ = std::make_unique<DeviceArray<std::size_t>>(sizes_.size());
    d_statuses_ = std::make_unique<DeviceArray<hemstitch_status>>(sizes_.size());
    batch_.d_blocks = d_block_pointers_->data;
    batch_.d_block_bytes = d_block_bytes_->data;
    batch_.d_outputs = d_output_pointers_->data;
    batch_.d_capacities = d_capacities_->data;
    batch_.d_output_bytes = d_sizes_->data;
    batch_.d_statuses = d_statuses_->data;
    batch_.count = sizes_.size();
    batch_.max_capacity = block_bytes;
    batch_.max_block_bytes = largest_;
    d_scratch_ = std::make_unique<DeviceArray<std::byte>>(cuda::restore_lz4_cuda_scratch_bytes(batch_));
  }

  std::size_t bytes() const { return raw_.size() * copies_; }
  double ratio() const { return ratio_; }

  void restore(cudaStream_t stream) const {
    cuda::restore_lz4_cuda(batch_, d_scratch_->data, d_scratch_->count, stream);
  }
  void poison() const {
    check(cudaMemset(d_output_->data, 0xA5, d_output_->count), "cudaMemset");
    check(cudaMemset(d_statuses_->data, 0xA5, d_statuses_->count * sizeof(hemstitch_status)), "cudaMemset");
  }

  // Seconds from pinned memory to pinned memory, in pieces on three streams, so that uploads, kernels and downloads
  // overlap.
  double pinned_seconds(const PinnedMemory& pinned) const {
    constexpr std::size_t kMostPieces = 12, kPieceBytes = 4 << 20;
    check(cudaMemcpy(pinned.blocks.span().data(), d_blocks_->data, d_blocks_->count, cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    const std::size_t count = sizes_.size();
    const std::size_t pieces =
        std::clamp<std::size_t>(std::min(bytes() / kPieceBytes, count), 1, kMostPieces);
    const auto end_of = [](const std::vector<std::size_t>& begins, const std::vector<std::size_t>& sizes,
                           std::size_t end) { return begins[end - 1] + sizes[end - 1]; };
    return bench::median_host_seconds(kRuns, [&] {
      for (std::size_t i = 0; i < pieces; ++i) {
        const cudaStream_t stream = pinned.streams[i % 3].get();
        const std::size_t begin = count * i / pieces, end = count * (i + 1) / pieces;
        check(cudaMemcpyAsync(
                  d_blocks_->data + block_at_[begin], pinned.blocks.span().data() + block_at_[begin],
                  end_of(block_at_, block_sizes_, end) - block_at_[begin], cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
        cuda::DeviceRestore piece = batch_;
        piece.d_blocks += begin;
        piece.d_block_bytes += begin;
        piece.d_outputs += begin;
        piece.d_capacities += begin;
        piece.d_output_bytes += begin;
        piece.d_statuses += begin;
        piece.count = end - begin;
        cuda::restore_lz4_cuda(piece, nullptr, 0, stream);
        check(cudaMemcpyAsync(
                  pinned.output.span().data() + output_at_[begin], d_output_->data + output_at_[begin],
                  end_of(output_at_, sizes_, end) - output_at_[begin], cudaMemcpyDeviceToHost, stream),
              "cudaMemcpyAsync");
      }
      for (const cuda::Stream& stream : pinned.streams) stream.synchronize();
    });
  }
  bool is_right(const PinnedMemory& pinned) const {
    for (const std::size_t copy : {std::size_t{0}, copies_ - 1})
      if (!std::equal(raw_.begin(), raw_.end(), pinned.output.span().data() + copy * stride_)) return false;
    return is_right();
  }

  bool is_right() const {
    for (const std::size_t copy : {std::size_t{0}, copies_ - 1}) {
      const std::vector<std::byte> output = d_output_->download(copy * stride_, raw_.size());
      const auto [ours, theirs] = std::mismatch(output.begin(), output.end(), raw_.begin());
      if (ours == output.end()) continue;
      std::fprintf(stderr, "copy %zu: byte %td is %02x instead of %02x\n", copy, ours - output.begin(),
                   static_cast<unsigned>(*ours), static_cast<unsigned>(*theirs));
      return false;
    }
    const std::vector<hemstitch_status> statuses = d_statuses_->download(0, sizes_.size());
    for (std::size_t i = 0; i < statuses.size(); ++i)
      if (statuses[i] != HEMSTITCH_OK) {
        std::fprintf(stderr, "chunk %zu has status %d\n", i, static_cast<int>(statuses[i]));
        return false;
      }
    return d_sizes_->download(0, sizes_.size()) == sizes_;
  }

 private:
  const std::vector<std::byte>& raw_;
  double ratio_ = 0;
  std::size_t copies_ = 0, stride_ = 0, largest_ = 0;
  std::vector<std::size_t> sizes_, block_sizes_, block_at_, output_at_;
  std::unique_ptr<DeviceArray<std::byte>> d_blocks_, d_output_, d_scratch_;
  std::unique_ptr<DeviceArray<const std::byte*>> d_block_pointers_;
  std::unique_ptr<DeviceArray<std::byte*>> d_output_pointers_;
  std::unique_ptr<DeviceArray<std::size_t>> d_block_bytes_, d_capacities_, d_sizes_;
  std::unique_ptr<DeviceArray<hemstitch_status>> d_statuses_;
  cuda::DeviceRestore batch_;
};

void row(const std::string& what, const char* span, std::size_t block_bytes, const std::string& file,
         std::size_t bytes, double ratio, double gbps, bool is_verified) {
  std::printf(
      "{\"what\":\"%s\",\"backend\":\"cuda\",\"format\":\"lz4\",\"block_bytes\":%zu,\"file\":\"%s\","
      "\"bytes\":%zu,"
      "\"ratio\":%.3f,\"gbps\":%.1f,\"span\":\"%s\",\"verified\":%s}\n",
      what.c_str(), block_bytes, file.c_str(), bytes, ratio, gbps, span, is_verified ? "true" : "false");
  std::fflush(stdout);
}

using Files = std::vector<std::pair<std::string, std::vector<std::byte>>>;

// With `pinned` from there to there, otherwise the kernel alone.
void measure_files(const Files& files, std::size_t block_bytes, double gigabytes,
                   const PinnedMemory* pinned) {
  const char* span = pinned != nullptr ? "pinned" : "kernel";
  double seconds_a_byte = 0, slowest = 1e9, ratios = 0;
  bool all_right = true;
  for (const auto& [name, raw] : files) {
    const Batch batch(raw, block_bytes, gigabytes);
    batch.poison();
    const double seconds = pinned != nullptr
                               ? batch.pinned_seconds(*pinned)
                               : bench::median_seconds(nullptr, kRuns, [&] { batch.restore(nullptr); });
    const bool is_right = pinned != nullptr ? batch.is_right(*pinned) : batch.is_right();
    const double gbps = static_cast<double>(batch.bytes()) / seconds / 1e9;
    row("restore", span, block_bytes, name, batch.bytes(), batch.ratio(), gbps, is_right);
    all_right &= is_right;
    seconds_a_byte += 1 / gbps;
    ratios += 1 / batch.ratio();
    slowest = std::min(slowest, gbps);
  }
  const auto bytes = static_cast<std::size_t>(gigabytes * 1e9);
  const auto file_count = static_cast<double>(files.size());
  row("restore", span, block_bytes, "mean", bytes, file_count / ratios, file_count / seconds_a_byte,
      all_right);
  row("restore", span, block_bytes, "worst", bytes, 0, slowest, all_right);
}

void measure_page_counts(const Files& files, const PinnedMemory& pinned) {
  std::vector<std::byte> corpus;
  for (const auto& [name, raw] : files) corpus.insert(corpus.end(), raw.begin(), raw.end());
  const std::size_t corpus_pages = corpus.size() / kPageBytes;
  for (const std::size_t count : {100, 500, 1000, 2000, 5000, 10'000, 100'000}) {
    std::vector<std::byte> pages;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t page = count <= corpus_pages ? i * corpus_pages / count : i % corpus_pages;
      const auto begin = corpus.begin() + static_cast<std::ptrdiff_t>(page * kPageBytes);
      pages.insert(pages.end(), begin, begin + static_cast<std::ptrdiff_t>(kPageBytes));
    }
    const Batch batch(pages, kPageBytes, 0);
    batch.poison();
    const auto gbps = [&](double seconds) { return static_cast<double>(batch.bytes()) / seconds / 1e9; };
    const std::string what = "restore, " + std::to_string(count) + " pages";
    const double kernel = bench::median_seconds(nullptr, kRuns, [&] { batch.restore(nullptr); });
    row(what, "kernel", kPageBytes, "corpus", batch.bytes(), batch.ratio(), gbps(kernel), batch.is_right());
    batch.poison();
    const double overlapped = batch.pinned_seconds(pinned);
    row(what, "pinned", kPageBytes, "corpus", batch.bytes(), batch.ratio(), gbps(overlapped),
        batch.is_right(pinned));
  }
}

int run_bench(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s FOLDER [GIGABYTES [WHAT [BLOCK_BYTES...]]]\n", arguments[0]);
    return 1;
  }
  const double gigabytes = count > 2 ? std::atof(arguments[2]) : 2;
  const std::string what = count > 3 ? arguments[3] : "kfhp";
  const auto asked = [&](char letter) { return what.find(letter) != std::string::npos; };
  std::vector<std::size_t> sizes;
  for (int i = 4; i < count; ++i) sizes.push_back(std::strtoull(arguments[i], nullptr, 10));
  if (sizes.empty()) sizes = {kPageBytes, 65536, 4194304};
  Files files;
  for (const char* name : {"dickens", "nci", "samba", "mr", "osdb", "xml", "x-ray"})
    files.emplace_back(name, testing::read_file(std::string(arguments[1]) + "/silesia/" + name));
  for (const std::size_t block_bytes : sizes) {
    if (asked('k')) measure_files(files, block_bytes, gigabytes, nullptr);
    if (asked('f')) measure_files(files, block_bytes, gigabytes / 10, nullptr);
  }
  if (!asked('h') && !asked('p')) return 0;
  // Some blocks are larger than what they restore to.
  const PinnedMemory pinned(static_cast<std::size_t>(std::max(gigabytes / 2, 0.5) * 1.02e9));
  if (asked('h'))
    for (const std::size_t block_bytes : sizes) measure_files(files, block_bytes, gigabytes / 2, &pinned);
  if (asked('p')) measure_page_counts(files, pinned);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int count, char** arguments) {
  try {
    return hemstitch::run_bench(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
