// What writing LZ4 blocks costs on a CUDA device.
//
//   lz4_compress_device_bench FOLDER [GIGABYTES [WHAT]]
//
// FOLDER holds silesia/. Each file's blocks are repeated until there are GIGABYTES (2) of input in flight. WHAT is one or
// more of these letters, lfpcz by default:
//   l  level 1, blocks of 4 KB and 64 KB     s  its stages at 64 KB     h  levels 3, 6, 9 and 12 at 64 KB
//   f  200 MB in flight                      p  from 100 to 100,000 pages both ways, kernels alone and between pinned memory
//   c  XXH32 of blocks                       z  pages: same-filled, and as the files have them
// Every figure is the median of five runs after one to warm up. Prints one row of a recorded run a line; a row is verified
// when the blocks of the file's first 4 MB equal the twin's.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "device_array.hpp"
#include "device_timing.hpp"
#include "format/lz4/compress/lz4_compress_cuda.hpp"
#include "format/lz4/compress/lz4_compress_reference.hpp"
#include "format/lz4/frame/lz4_checksum_cuda.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/pages/lz4_pages_cuda.hpp"
#include "format/lz4/restore/lz4_restore_cuda.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "parse/lazy/lazy_cuda.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using bench::median_host_seconds;
using bench::median_seconds;
using cuda::check;

constexpr int kRuns = 5;
constexpr std::size_t kVerifiedBytes = 4 << 20;
constexpr const char* kFiles[] = {"dickens", "nci", "samba", "mr", "osdb", "xml", "x-ray"};

struct Row {
  std::string what, level, file, span = "kernel";
  std::uint32_t block_bytes;
  std::size_t bytes;
  double ratio, gbps;
  bool verified;

  void print() const {
    std::printf(
        "{\"what\":\"%s\",\"backend\":\"cuda\",\"format\":\"lz4\",\"level\":\"%s\",\"block_bytes\":%u,"
        "\"file\":\"%s\",\"bytes\":%zu,",
        what.c_str(), level.c_str(), block_bytes, file.c_str(), bytes);
    if (ratio != 0) std::printf("\"ratio\":%.4f,", ratio);
    std::printf("\"gbps\":%.1f,\"span\":\"%s\",\"verified\":%s}\n", gbps, span.c_str(),
                verified ? "true" : "false");
    std::fflush(stdout);
  }
};

// The means over the files of each kind of row, and the slowest.
class Means {
 public:
  void add(const Row& row) {
    row.print();
    rows_[row.what + "/" + row.level + "/" + std::to_string(row.block_bytes)].push_back(row);
  }
  void print() const {
    for (const auto& [key, rows] : rows_) {
      Row mean = rows[0], worst = rows[0];
      double seconds_a_byte = 0;
      for (const Row& row : rows) {
        seconds_a_byte += 1 / row.gbps;
        if (row.gbps < worst.gbps) worst = row;
        mean.verified &= row.verified;
      }
      mean.file = "mean";
      mean.ratio = 0;
      mean.gbps = static_cast<double>(rows.size()) / seconds_a_byte;
      mean.print();
      worst.file = "worst";
      worst.print();
    }
  }

 private:
  std::map<std::string, std::vector<Row>> rows_;
};

// A file in blocks of one size, repeated, with room for what becomes of it.
class Blocks {
 public:
  Blocks(const std::string& file, const std::vector<std::byte>& bytes, std::uint32_t block_bytes,
         std::size_t in_flight)
      : file_(file), bytes_(bytes), block_bytes_(block_bytes) {
    const std::size_t copies = std::max<std::size_t>(1, in_flight / bytes.size());
    total_ = copies * bytes.size();
    d_input_ = std::make_unique<DeviceArray<std::byte>>(total_);
    d_input_->upload(bytes);
    for (std::size_t copy = 1; copy < copies; ++copy)
      check(cudaMemcpy(d_input_->data + copy * bytes.size(), d_input_->data, bytes.size(),
                       cudaMemcpyDeviceToDevice),
            "cudaMemcpy");
    const std::size_t room = (cuda::max_lz4_block_bytes(block_bytes) + 15) / 16 * 16;
    std::vector<DeviceBlock> blocks;
    for (std::size_t copy = 0; copy < copies; ++copy)
      for (std::size_t begin = 0; begin < bytes.size(); begin += block_bytes) {
        const std::size_t position = copy * bytes.size() + begin;
        blocks.push_back(
            {d_input_->data + position,
             static_cast<std::uint32_t>(std::min<std::size_t>(block_bytes, bytes.size() - begin)), 0,
             position});
      }
    count_ = blocks.size();
    first_copy_ = count_ / copies;
    d_blocks_ = std::make_unique<DeviceArray<DeviceBlock>>(count_);
    d_blocks_->upload(blocks);
    batch_ = {d_blocks_->data, static_cast<std::uint32_t>(count_), block_bytes, 0, total_};
    d_output_ = std::make_unique<DeviceArray<std::byte>>(count_ * room);
    std::vector<std::byte*> outputs;
    for (std::size_t i = 0; i < count_; ++i) outputs.push_back(d_output_->data + i * room);
    d_outputs_ = std::make_unique<DeviceArray<std::byte*>>(count_);
    d_outputs_->upload(outputs);
    d_capacities_ = std::make_unique<DeviceArray<std::size_t>>(count_);
    d_capacities_->upload(std::vector<std::size_t>(count_, room));
    d_sizes_ = std::make_unique<DeviceArray<std::size_t>>(count_);
    d_statuses_ = std::make_unique<DeviceArray<hemstitch_status>>(count_);
  }

  const DeviceBlocks& batch() const { return batch_; }
  cuda::DeviceLz4Output output() const {
    return {d_outputs_->data, d_capacities_->data, d_sizes_->data, d_statuses_->data};
  }

  Row compress(int level_number, DeviceArray<std::byte>& scratch) const {
    const Lz4Level level = lz4_level(level_number, block_bytes_);
    const double seconds = median_seconds(nullptr, kRuns, [&] {
      cuda::compress_lz4_cuda(batch_, level, output(), scratch.data, scratch.count, nullptr);
    });
    std::size_t written = 0;
    const std::vector<std::size_t> sizes = d_sizes_->download(0, first_copy_);
    for (const std::size_t size : sizes) written += size;
    return {"compress",
            std::to_string(level_number),
            file_,
            "kernel",
            block_bytes_,
            total_,
            static_cast<double>(bytes_.size()) / static_cast<double>(written),
            static_cast<double>(total_) / seconds / 1e9,
            verified(level)};
  }

  Row stage(const char* what, const std::function<void()>& run) const {
    const double seconds = median_seconds(nullptr, kRuns, run);
    return {what, "1", file_, "kernel", block_bytes_, total_, 0, static_cast<double>(total_) / seconds / 1e9,
            false};
  }

  // What compress() wrote, restored.
  Row restore() const {
    DeviceArray<std::byte> d_restored(total_);
    std::vector<std::byte*> outputs;
    for (const DeviceBlock& block : d_blocks_->download(0, count_))
      outputs.push_back(d_restored.data + block.position);
    DeviceArray<std::byte*> d_outputs(count_);
    d_outputs.upload(outputs);
    DeviceArray<std::size_t> d_capacities(count_), d_restored_bytes(count_);
    d_capacities.upload(std::vector<std::size_t>(count_, block_bytes_));
    const cuda::DeviceRestore batch{.d_blocks = const_cast<const std::byte**>(d_outputs_->data),
                                    .d_block_bytes = d_sizes_->data,
                                    .d_outputs = d_outputs.data,
                                    .d_capacities = d_capacities.data,
                                    .d_output_bytes = d_restored_bytes.data,
                                    .d_statuses = d_statuses_->data,
                                    .count = count_,
                                    .max_capacity = block_bytes_,
                                    .max_block_bytes = cuda::max_lz4_block_bytes(block_bytes_)};
    DeviceArray<std::byte> scratch(cuda::restore_lz4_cuda_scratch_bytes(batch));
    const double seconds = median_seconds(
        nullptr, kRuns, [&] { cuda::restore_lz4_cuda(batch, scratch.data, scratch.count, nullptr); });
    const std::vector<std::byte> first = d_restored.download(0, bytes_.size());
    return {"restore",
            "1",
            file_,
            "kernel",
            block_bytes_,
            total_,
            0,
            static_cast<double>(total_) / seconds / 1e9,
            std::equal(first.begin(), first.end(), bytes_.begin())};
  }

  // What compress() wrote, one block behind the other, and each one's size.
  std::vector<std::byte> packed(std::vector<std::size_t>& sizes) const {
    sizes = d_sizes_->download(0, count_);
    const std::size_t room = d_output_->count / count_;
    const std::vector<std::byte> rooms = d_output_->download(0, d_output_->count);
    std::vector<std::byte> packed;
    for (std::size_t i = 0; i < count_; ++i)
      packed.insert(packed.end(), rooms.begin() + static_cast<std::ptrdiff_t>(i * room),
                    rooms.begin() + static_cast<std::ptrdiff_t>(i * room + sizes[i]));
    return packed;
  }

  bool verified(const Lz4Level& level) const {
    const std::vector<std::size_t> sizes = d_sizes_->download(0, first_copy_);
    const std::size_t room = (cuda::max_lz4_block_bytes(block_bytes_) + 15) / 16 * 16;
    const std::size_t count = std::min(first_copy_, kVerifiedBytes / block_bytes_);
    const std::vector<std::byte> got = d_output_->download(0, count * room);
    std::atomic<std::size_t> wrong = 0;
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      const std::size_t begin = i * block_bytes_;
      const auto block =
          std::span(bytes_).subspan(begin, std::min<std::size_t>(block_bytes_, bytes_.size() - begin));
      std::vector<std::byte> expected(room);
      const EncodedBlock encoded = compress_lz4_block_reference({block, 0}, level, expected);
      if (encoded.bytes != sizes[i] ||
          !std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(encoded.bytes),
                      got.begin() + static_cast<std::ptrdiff_t>(i * room)))
        if (wrong++ == 0)
          std::fprintf(stderr, "%s, blocks of %u: block %zu differs from the twin\n", file_.c_str(),
                       block_bytes_, i);
    });
    return wrong == 0;
  }

 private:
  std::string file_;
  const std::vector<std::byte>& bytes_;
  std::uint32_t block_bytes_;
  std::size_t total_ = 0, count_ = 0, first_copy_ = 0;
  DeviceBlocks batch_;
  std::unique_ptr<DeviceArray<std::byte>> d_input_, d_output_;
  std::unique_ptr<DeviceArray<DeviceBlock>> d_blocks_;
  std::unique_ptr<DeviceArray<std::byte*>> d_outputs_;
  std::unique_ptr<DeviceArray<std::size_t>> d_capacities_, d_sizes_;
  std::unique_ptr<DeviceArray<hemstitch_status>> d_statuses_;
};

std::vector<DeviceBlock> page_blocks(const std::byte* d_pages, std::size_t count) {
  std::vector<DeviceBlock> blocks;
  for (std::size_t i = 0; i < count; ++i)
    blocks.push_back({d_pages + i * kPageBytes, static_cast<std::uint32_t>(kPageBytes), 0, i * kPageBytes});
  return blocks;
}

// Pages between pinned memory and back as one span, in pieces on three streams: upload, compression and download overlap.
class PinnedPages {
 public:
  PinnedPages(const std::vector<std::byte>& pages, std::size_t count)
      : count_(count), input_(count * kPageBytes), output_(count * (kPageBytes + 8)) {
    for (std::size_t i = 0; i < input_.span().size(); ++i) input_.span()[i] = pages[i % pages.size()];
    const std::size_t pieces = std::clamp<std::size_t>(count / 1000, 2, 12);
    for (std::size_t i = 0; i < pieces; ++i) {
      const std::size_t begin = count * i / pieces, end = count * (i + 1) / pieces;
      pieces_.push_back(std::make_unique<Piece>(begin, end - begin));
    }
    totals_ = cuda::PinnedBuffer<std::uint64_t>(pieces);
  }

  double seconds() {
    return median_host_seconds(kRuns, [&] { run(); });
  }

  // Whether the span begins with what the twin makes of the first pages.
  bool verified() const {
    const Lz4Level level = lz4_level(1, kPageBytes);
    std::vector<std::byte> room(cuda::max_lz4_block_bytes(kPageBytes));
    std::size_t at = 0;
    for (std::size_t i = 0; i < std::min(count_, kVerifiedBytes / kPageBytes); ++i) {
      std::span<const std::byte> kept = input_.span().subspan(i * kPageBytes, kPageBytes);
      const EncodedBlock encoded = compress_lz4_block_reference({kept, 0}, level, room);
      if (encoded.bytes < kPageBytes) kept = std::span(room).first(encoded.bytes);
      if (!std::equal(kept.begin(), kept.end(), output_.span().begin() + static_cast<std::ptrdiff_t>(at)))
        return false;
      at += kept.size();
    }
    return true;
  }

 private:
  struct Piece {
    Piece(std::size_t first_page, std::size_t pages)
        : first(first_page),
          count(pages),
          d_input(pages * kPageBytes),
          d_span(pages * kPageBytes),
          d_blocks(pages),
          d_offsets(pages + 1),
          d_sizes(pages),
          d_statuses(pages),
          batch{d_blocks.data, static_cast<std::uint32_t>(pages), static_cast<std::uint32_t>(kPageBytes), 0,
                pages * kPageBytes},
          scratch(cuda::compress_lz4_span_cuda_scratch_bytes(batch, lz4_level(1, kPageBytes))) {
      d_blocks.upload(page_blocks(d_input.data, pages));
    }
    std::size_t first, count;
    DeviceArray<std::byte> d_input, d_span;
    DeviceArray<DeviceBlock> d_blocks;
    DeviceArray<std::uint64_t> d_offsets;
    DeviceArray<std::uint32_t> d_sizes;
    DeviceArray<hemstitch_status> d_statuses;
    DeviceBlocks batch;
    DeviceArray<std::byte> scratch;
  };

  void run() {
    const Lz4Level level = lz4_level(1, kPageBytes);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = *pieces_[i];
      const cudaStream_t stream = streams_[i % 3].get();
      check(cudaMemcpyAsync(piece.d_input.data, input_.span().data() + piece.first * kPageBytes,
                            piece.count * kPageBytes, cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
      cuda::compress_lz4_span_cuda(piece.batch, level,
                                   {piece.d_span.data, piece.d_span.count, 0, 0, piece.d_offsets.data,
                                    piece.d_sizes.data, piece.d_statuses.data},
                                   piece.scratch.data, piece.scratch.count, stream);
      check(cudaMemcpyAsync(totals_.span().data() + i, piece.d_offsets.data + piece.count,
                            sizeof(std::uint64_t), cudaMemcpyDeviceToHost, stream),
            "cudaMemcpyAsync");
      ready_[i % 12].record(stream);
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      ready_[i % 12].synchronize();
      check(cudaMemcpyAsync(output_.span().data() + at, pieces_[i]->d_span.data, totals_.span()[i],
                            cudaMemcpyDeviceToHost, download_.get()),
            "cudaMemcpyAsync");
      at += totals_.span()[i];
    }
    download_.synchronize();
  }

  std::size_t count_;
  cuda::PinnedBuffer<std::byte> input_, output_;
  cuda::PinnedBuffer<std::uint64_t> totals_;
  std::vector<std::unique_ptr<Piece>> pieces_;
  cuda::Stream streams_[3], download_;
  cuda::Event ready_[12];
};

// The other way: compressed pages from pinned memory, restored there.
class PinnedRestoration {
 public:
  PinnedRestoration(const std::vector<std::byte>& kept, const std::vector<std::size_t>& sizes)
      : input_(kept.size()), output_(sizes.size() * kPageBytes) {
    std::copy(kept.begin(), kept.end(), input_.span().begin());
    const std::size_t pieces = std::clamp<std::size_t>(sizes.size() / 1000, 1, 12);
    std::size_t at = 0;
    for (std::size_t i = 0; i < pieces; ++i) {
      const std::size_t begin = sizes.size() * i / pieces, end = sizes.size() * (i + 1) / pieces;
      pieces_.push_back(std::make_unique<Piece>(begin, at, std::span(sizes).subspan(begin, end - begin)));
      at += pieces_.back()->kept_bytes;
    }
  }

  double seconds() {
    return median_host_seconds(kRuns, [&] { run(); });
  }

  bool restored(const std::vector<std::byte>& pages) const {
    for (std::size_t i = 0; i < output_.span().size(); ++i)
      if (output_.span()[i] != pages[i % pages.size()]) return false;
    return true;
  }

 private:
  struct Piece {
    Piece(std::size_t first_page, std::size_t kept_begin, std::span<const std::size_t> sizes)
        : first(first_page),
          kept_at(kept_begin),
          count(sizes.size()),
          kept_bytes(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0})),
          d_kept(kept_bytes),
          d_pages(count * kPageBytes),
          d_sources(count),
          d_targets(count),
          d_sizes(count),
          d_capacities(count),
          d_restored_bytes(count),
          d_statuses(count),
          batch{.d_blocks = d_sources.data,
                .d_block_bytes = d_sizes.data,
                .d_outputs = d_targets.data,
                .d_capacities = d_capacities.data,
                .d_output_bytes = d_restored_bytes.data,
                .d_statuses = d_statuses.data,
                .count = count,
                .max_capacity = kPageBytes,
                .max_block_bytes = cuda::max_lz4_block_bytes(kPageBytes)},
          scratch(cuda::restore_lz4_cuda_scratch_bytes(batch)) {
      std::vector<const std::byte*> sources;
      std::vector<std::byte*> targets;
      std::size_t at = 0;
      for (std::size_t i = 0; i < count; ++i) {
        sources.push_back(d_kept.data + at);
        targets.push_back(d_pages.data + i * kPageBytes);
        at += sizes[i];
      }
      d_sources.upload(sources);
      d_targets.upload(targets);
      d_sizes.upload(std::vector<std::size_t>(sizes.begin(), sizes.end()));
      d_capacities.upload(std::vector<std::size_t>(count, kPageBytes));
    }
    std::size_t first, kept_at, count, kept_bytes;
    DeviceArray<std::byte> d_kept, d_pages;
    DeviceArray<const std::byte*> d_sources;
    DeviceArray<std::byte*> d_targets;
    DeviceArray<std::size_t> d_sizes, d_capacities, d_restored_bytes;
    DeviceArray<hemstitch_status> d_statuses;
    cuda::DeviceRestore batch;
    DeviceArray<std::byte> scratch;
  };

  void run() {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = *pieces_[i];
      const cudaStream_t stream = streams_[i % 3].get();
      check(cudaMemcpyAsync(piece.d_kept.data, input_.span().data() + piece.kept_at, piece.kept_bytes,
                            cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
      cuda::restore_lz4_cuda(piece.batch, piece.scratch.data, piece.scratch.count, stream);
      check(cudaMemcpyAsync(output_.span().data() + piece.first * kPageBytes, piece.d_pages.data,
                            piece.count * kPageBytes, cudaMemcpyDeviceToHost, stream),
            "cudaMemcpyAsync");
    }
    for (cuda::Stream& stream : streams_) stream.synchronize();
  }

  cuda::PinnedBuffer<std::byte> input_, output_;
  std::vector<std::unique_ptr<Piece>> pieces_;
  cuda::Stream streams_[3];
};

void measure_page_counts(const std::vector<std::byte>& corpus) {
  for (const std::size_t count : {100, 500, 1000, 2000, 5000, 10'000, 100'000}) {
    const std::vector<std::byte> pages(
        corpus.begin(), corpus.begin() + static_cast<std::ptrdiff_t>(std::min(
                                             count * kPageBytes, corpus.size() / kPageBytes * kPageBytes)));
    const Blocks blocks("corpus", pages, kPageBytes, count * kPageBytes);
    DeviceArray<std::byte> scratch(0);
    Row row = blocks.compress(1, scratch);
    row.what = "compress, " + std::to_string(count) + " pages";
    row.print();
    PinnedPages compression(pages, count);
    row.gbps = static_cast<double>(count * kPageBytes) / compression.seconds() / 1e9;
    row.bytes = count * kPageBytes;
    row.span = "pinned";
    row.ratio = 0;
    row.verified = compression.verified();
    row.print();
    row = blocks.restore();
    row.what = "restore, " + std::to_string(count) + " pages";
    row.print();
    std::vector<std::size_t> sizes;
    const std::vector<std::byte> kept = blocks.packed(sizes);
    PinnedRestoration restoration(kept, sizes);
    row.bytes = sizes.size() * kPageBytes;
    row.gbps = static_cast<double>(row.bytes) / restoration.seconds() / 1e9;
    row.span = "pinned";
    row.verified = restoration.restored(pages);
    row.print();
  }
}

// Pages with their kinds: as `pages` has them, repeated to `bytes`.
void measure_pages(const char* name, const std::vector<std::byte>& pages, std::size_t bytes) {
  const std::size_t count = bytes / kPageBytes;
  DeviceArray<std::byte> d_input(count * kPageBytes), d_output(count * kPageBytes);
  for (std::size_t at = 0; at < d_input.count; at += pages.size())
    check(cudaMemcpy(d_input.data + at, pages.data(), std::min(pages.size(), d_input.count - at),
                     cudaMemcpyHostToDevice),
          "cudaMemcpy");
  DeviceArray<DeviceBlock> d_blocks(count);
  d_blocks.upload(page_blocks(d_input.data, count));
  std::vector<std::byte*> outputs;
  for (std::size_t i = 0; i < count; ++i) outputs.push_back(d_output.data + i * kPageBytes);
  DeviceArray<std::byte*> d_outputs(count);
  d_outputs.upload(outputs);
  DeviceArray<Lz4PageEntry> d_entries(count);
  const DeviceBlocks batch{d_blocks.data, static_cast<std::uint32_t>(count),
                           static_cast<std::uint32_t>(kPageBytes), 0, d_input.count};
  const Lz4Level level = lz4_level(1, kPageBytes);
  DeviceArray<std::byte> scratch(cuda::compress_lz4_pages_cuda_scratch_bytes(batch, level));
  const auto gbps = [&](double seconds) { return static_cast<double>(d_input.count) / seconds / 1e9; };
  const double seconds = median_seconds(nullptr, kRuns, [&] {
    cuda::compress_lz4_pages_cuda(batch, level, {d_outputs.data, d_entries.data}, scratch.data, scratch.count,
                                  nullptr);
  });
  const std::vector<Lz4PageEntry> entries = d_entries.download(0, count);
  std::size_t kept = 0;
  bool verified = true;
  for (std::size_t i = 0; i < count; ++i) kept += entries[i].bytes;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, pages.size() / kPageBytes); ++i) {
    std::vector<std::byte> room(kPageBytes);
    const Lz4PageEntry entry =
        compress_lz4_page_reference(std::span(pages).subspan(i * kPageBytes, kPageBytes), level, room);
    verified &= entry.bytes == entries[i].bytes && entry.kind == entries[i].kind;
  }
  const double ratio = static_cast<double>(d_input.count) / static_cast<double>(kept);
  Row{"compress, pages", "1", name, "kernel", kPageBytes, d_input.count, ratio, gbps(seconds), verified}
      .print();

  std::vector<const std::byte*> sources(outputs.begin(), outputs.end());
  DeviceArray<const std::byte*> d_kept(count);
  d_kept.upload(sources);
  DeviceArray<std::byte> d_restored(count * kPageBytes);
  std::vector<std::byte*> restored;
  for (std::size_t i = 0; i < count; ++i) restored.push_back(d_restored.data + i * kPageBytes);
  DeviceArray<std::byte*> d_pages(count);
  d_pages.upload(restored);
  DeviceArray<std::size_t> d_page_bytes(count);
  d_page_bytes.upload(std::vector<std::size_t>(count, kPageBytes));
  DeviceArray<hemstitch_status> d_statuses(count);
  const cuda::DeviceLz4PageRestore restore{d_kept.data,       d_entries.data,  d_pages.data,
                                           d_page_bytes.data, d_statuses.data, count};
  DeviceArray<std::byte> restore_scratch(cuda::restore_lz4_pages_cuda_scratch_bytes(restore));
  const double restore_seconds = median_seconds(nullptr, kRuns, [&] {
    cuda::restore_lz4_pages_cuda(restore, restore_scratch.data, restore_scratch.count, nullptr);
  });
  const std::size_t compared = std::min(pages.size() / kPageBytes * kPageBytes, d_input.count);
  const std::vector<std::byte> first = d_restored.download(0, compared);
  verified = std::equal(first.begin(), first.end(), pages.begin());
  Row{"restore, pages", "1", name, "kernel", kPageBytes, d_input.count, 0, gbps(restore_seconds), verified}
      .print();
}

void measure_checksums(const std::vector<std::byte>& corpus, std::size_t bytes) {
  for (const std::uint32_t block_bytes : {4096u, 65536u, 262'144u}) {
    const std::size_t count = bytes / block_bytes;
    DeviceArray<std::byte> d_input(count * block_bytes);
    for (std::size_t at = 0; at < d_input.count; at += corpus.size())
      check(cudaMemcpy(d_input.data + at, corpus.data(), std::min(corpus.size(), d_input.count - at),
                       cudaMemcpyHostToDevice),
            "cudaMemcpy");
    std::vector<const std::byte*> spans;
    for (std::size_t i = 0; i < count; ++i) spans.push_back(d_input.data + i * block_bytes);
    DeviceArray<const std::byte*> d_spans(count);
    d_spans.upload(spans);
    DeviceArray<std::size_t> d_sizes(count);
    d_sizes.upload(std::vector<std::size_t>(count, block_bytes));
    DeviceArray<std::uint32_t> d_hashes(count);
    const double seconds = median_seconds(nullptr, kRuns, [&] {
      cuda::checksum_lz4_cuda(d_spans.data, d_sizes.data, count, d_hashes.data, nullptr);
    });
    const std::vector<std::uint32_t> hashes =
        d_hashes.download(0, std::min(count, corpus.size() / block_bytes));
    bool verified = true;
    for (std::size_t i = 0; i < hashes.size(); ++i)
      verified &= hashes[i] == lz4_checksum(std::span(corpus).subspan(i * block_bytes, block_bytes));
    Row{"checksum",  "-",           "corpus", "kernel",
        block_bytes, d_input.count, 0,        static_cast<double>(d_input.count) / seconds / 1e9,
        verified}
        .print();
  }
}

int measure(int argument_count, char** arguments) {
  if (argument_count < 2) {
    std::fprintf(stderr, "usage: %s FOLDER [GIGABYTES [WHAT]]\n", arguments[0]);
    return 1;
  }
  const double gigabytes = argument_count > 2 ? std::atof(arguments[2]) : 2;
  const std::string what = argument_count > 3 ? arguments[3] : "lfpcz";
  const auto asked = [&](char letter) { return what.find(letter) != std::string::npos; };
  const auto in_flight = static_cast<std::size_t>(gigabytes * 1e9);

  std::size_t free_bytes = 0, device_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &device_bytes), "cudaMemGetInfo");
  DeviceArray<std::byte> scratch(static_cast<std::size_t>(gigabytes * 16e9) + (std::size_t{4} << 30));
  Means means;
  std::vector<std::byte> corpus;
  for (const char* file : kFiles) {
    const std::vector<std::byte> bytes = testing::read_file(std::string(arguments[1]) + "/silesia/" + file);
    corpus.insert(corpus.end(), bytes.begin(), bytes.end());
    for (const std::uint32_t block_bytes : {4096u, 65536u}) {
      const Blocks blocks(file, bytes, block_bytes, in_flight);
      if (asked('l')) means.add(blocks.compress(1, scratch));
      if (asked('s') && block_bytes > kPageBytes) {  // pages know no stages
        const auto parameters = std::get<HashChainParameters>(lz4_level(1, block_bytes).finder);
        DeviceArray<MatchRecord> d_records(blocks.batch().total_block_bytes);
        DeviceArray<Sequence> d_sequences(cuda::device_sequence_capacity(blocks.batch(), lz4_block_plan()));
        DeviceArray<std::uint32_t> d_counts(blocks.batch().block_count);
        DeviceArray<std::uint64_t> d_total(1);
        means.add(blocks.stage("build", [&] {
          cuda::build_hash_chains_cuda(blocks.batch(), parameters, scratch.data, scratch.count, nullptr);
        }));
        means.add(blocks.stage("find", [&] {
          cuda::find_hash_chain_cuda(blocks.batch(), parameters, d_records.data, scratch.data, scratch.count,
                                     nullptr);
        }));
        means.add(blocks.stage("parse", [&] {
          cuda::parse_lazy_cuda(blocks.batch(), d_records.data, lz4_block_plan(), 0,
                                {d_sequences.data, d_counts.data, d_total.data}, nullptr);
        }));
      }
      if (asked('h') && block_bytes == 65536)
        for (const int level : {3, 6, 9, 12}) means.add(blocks.compress(level, scratch));
    }
    if (asked('f'))
      for (const std::uint32_t block_bytes : {4096u, 65536u}) {
        const Blocks blocks(file, bytes, block_bytes, 200'000'000);
        Row row = blocks.compress(1, scratch);
        row.what = "compress, 200 MB";
        means.add(row);
      }
  }
  means.print();
  if (asked('p')) measure_page_counts(corpus);
  if (asked('c')) measure_checksums(corpus, in_flight);
  if (asked('z')) {
    measure_pages("corpus", corpus, in_flight);
    std::vector<std::byte> same(kPageBytes * 64);
    for (std::size_t i = 0; i < same.size(); ++i) same[i] = static_cast<std::byte>(i / kPageBytes + i % 8);
    measure_pages("same-filled", same, in_flight);
  }
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int count, char** arguments) {
  try {
    return hemstitch::measure(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
