// What writing DEFLATE costs on a CUDA device, stage by stage.
//
//   deflate_compress_device_bench FOLDER [GIGABYTES [WHAT]]
//
// FOLDER holds silesia/. Each of nine files is repeated until there are GIGABYTES (1) of input in flight: as streams have it, in blocks of 1 MiB
// behind 32 KB of history, and as BGZF has it, in blocks of 65,280 bytes. WHAT is one or more of these letters, 169tbc by default:
//   1, 6, 9, t  levels 1, 6, 9 and 12     b  BGZF at level 6     c  CRC-32 and Adler-32 of blocks of 64 KB
// Rows: "near" and "find", the two finders; "parse", all passes; "back_end", all that is behind the finders but the parse, from sequences to bytes;
// "compress", the whole. Every figure is the median of three runs after one to warm up. Prints one row of a recorded run a line, and for each kind one of
// all files: their bytes by their seconds. A row is verified when the first copy of the file is restored by zlib, its first 4 MB equal the
// twin's, and all copies have the sizes and checksums of the first.
#include <tbb/parallel_for.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "device_array.hpp"
#include "device_timing.hpp"
#include "format/checksum.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/deflate_compress_reference.hpp"
#include "format/deflate/compress/deflate_encoder_cuda.hpp"
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "gpu/cuda/scratch.hpp"
#include "kernel_totals.hpp"
#include "shapes.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using bench::KernelTotals;
using bench::median_seconds;
using bench::median_step_seconds;
using cuda::check;
using testing::Bytes;

constexpr int kRuns = 3;
constexpr std::size_t kTwinsBytes = 4 << 20;
constexpr const char* kFiles[] = {"dickens", "nci",     "samba", "mr", "osdb",
                                  "ooffice", "reymont", "x-ray", "xml"};

struct Kind {
  const char* format;
  std::size_t block_bytes;
  std::size_t history_bytes;
  DeflateEnd end;
};
constexpr Kind kStream{"deflate", kDeflateMostBlockBytes, kDeflateWindowBytes, DeflateEnd::kFlush};
constexpr Kind kBgzf{"bgzf", 65280, 0, DeflateEnd::kFinal};

// A file in blocks, repeated, with room for what becomes of each.
class Blocks {
 public:
  Blocks(const std::string& file, const Bytes& bytes, const Kind& kind, std::size_t in_flight)
      : file_(file),
        bytes_(bytes),
        kind_(kind),
        copies_(std::max<std::size_t>(1, (in_flight + bytes.size() - 1) / bytes.size())),
        total_(copies_ * bytes.size()),
        first_copy_((bytes.size() + kind.block_bytes - 1) / kind.block_bytes),
        room_((deflate_data_room(kind.block_bytes) + 15) / 16 * 16),
        d_input_(total_),
        d_output_(copies_ * first_copy_ * room_),
        d_blocks_(copies_ * first_copy_),
        d_targets_(copies_ * first_copy_),
        d_checksums_(copies_ * first_copy_) {
    for (std::size_t copy = 0; copy < copies_; ++copy)
      check(cudaMemcpy(d_input_.data + copy * bytes.size(), copy == 0 ? bytes.data() : d_input_.data,
                       bytes.size(), cudaMemcpyDefault),
            "cudaMemcpy");
    std::vector<DeviceBlock> blocks;
    for (std::size_t copy = 0; copy < copies_; ++copy)
      for (std::size_t begin = 0; begin < bytes.size(); begin += kind.block_bytes) {
        const std::size_t position = copy * bytes.size() + begin;
        blocks.push_back({d_input_.data + position, static_cast<std::uint32_t>(block_bytes_at(begin)),
                          static_cast<std::uint32_t>(history_at(begin)), position});
        targets_.push_back(d_output_.data + targets_.size() * room_);
      }
    d_blocks_.upload(blocks);
    d_targets_.upload(targets_);
    batch_ = {d_blocks_.data, static_cast<std::uint32_t>(blocks.size()),
              static_cast<std::uint32_t>(std::min(kind.block_bytes, bytes.size())),
              static_cast<std::uint32_t>(kind.history_bytes), total_};
  }

  void compress(int level_number, KernelTotals& totals) const {
    const DeflateLevel level = deflate_level(level_number);
    cuda::Carver counted(nullptr);
    cuda::DeflateEncoder(batch_, level, kind_.end, counted);
    const DeviceArray<std::byte> scratch(counted.bytes());
    cuda::Carver carver(scratch.data);
    const cuda::DeflateEncoder encoder(batch_, level, kind_.end, carver);
    std::vector<std::function<void()>> steps = {[&] { encoder.find_near(nullptr); },
                                                [&] { encoder.find_chain(nullptr); },
                                                [&] { encoder.cut(nullptr); }};
    for (unsigned pass = 1; pass <= encoder.pass_count(); ++pass) {
      steps.push_back([&, pass] { encoder.parse(pass == 1, nullptr); });
      steps.push_back([&, pass] { encoder.count_and_code(pass == encoder.pass_count(), nullptr); });
    }
    steps.push_back([&] {
      encoder.place(nullptr);
      encoder.pack(d_targets_.data, nullptr);
    });
    const std::vector<double> seconds = median_step_seconds(nullptr, kRuns, steps);
    double parse = 0, back_end = seconds[2] + seconds[steps.size() - 1];
    for (unsigned pass = 0; pass < encoder.pass_count(); ++pass) {
      parse += seconds[3 + 2 * pass];
      back_end += seconds[4 + 2 * pass];
    }
    std::vector<std::uint32_t> sizes(batch_.block_count);
    check(cudaMemcpy(sizes.data(), encoder.d_sizes(), sizes.size() * sizeof sizes[0], cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    std::size_t output_bytes = 0;
    for (std::size_t i = 0; i < first_copy_; ++i) output_bytes += sizes[i];
    const bool verified = is_right(level, sizes);
    const auto add = [&](const char* what, double step_seconds, bool has_ratio) {
      totals.add({what, kind_.format, std::to_string(level_number), file_, kind_.block_bytes, total_,
                  has_ratio ? static_cast<double>(bytes_.size()) / static_cast<double>(output_bytes) : 0,
                  static_cast<double>(total_) / step_seconds / 1e9, verified},
                 bytes_.size(), has_ratio ? output_bytes : 0);
    };
    add("near", seconds[0], false);
    add("find", seconds[1], false);
    add("parse", parse, false);
    add("back_end", back_end, false);
    add("compress", seconds.back(), true);
  }

  // Of the input, in pieces of 64 KB.
  void sum_up(KernelTotals& totals) const {
    constexpr std::size_t kPiece = 65536;
    std::vector<const std::byte*> pieces;
    std::vector<std::size_t> sizes;
    for (std::size_t begin = 0; begin < total_; begin += kPiece) {
      pieces.push_back(d_input_.data + begin);
      sizes.push_back(std::min(kPiece, total_ - begin));
    }
    const DeviceArray<const std::byte*> d_pieces(pieces);
    const DeviceArray<std::size_t> d_sizes(sizes);
    const DeviceArray<std::uint32_t> d_checksums(pieces.size());
    for (const Checksum kind : {Checksum::kCrc32, Checksum::kAdler32}) {
      const bool is_crc = kind == Checksum::kCrc32;
      const double seconds = median_seconds(nullptr, kRuns, [&] {
        (is_crc ? cuda::crc32_spans_cuda : cuda::adler32_spans_cuda)(
            d_pieces.data, d_sizes.data, pieces.size(), d_checksums.data, nullptr);
      });
      const std::vector<std::uint32_t> got = d_checksums.download(0, bytes_.size() / kPiece);
      bool verified = true;
      for (std::size_t i = 0; i < got.size(); ++i)
        verified &= got[i] == checksum_of(kind, std::span(bytes_).subspan(i * kPiece, kPiece));
      totals.add({is_crc ? "crc32" : "adler32", "deflate", "", file_, kPiece, total_, 0,
                  static_cast<double>(total_) / seconds / 1e9, verified},
                 bytes_.size(), 0);
    }
  }

 private:
  std::size_t block_bytes_at(std::size_t begin) const {
    return std::min(kind_.block_bytes, bytes_.size() - begin);
  }
  std::size_t history_at(std::size_t begin) const { return std::min(kind_.history_bytes, begin); }

  bool is_right(const DeflateLevel& level, const std::vector<std::uint32_t>& sizes) const {
    // Checksums of what was written: all copies are the first one.
    const DeviceArray<std::size_t> d_sizes(std::vector<std::size_t>(sizes.begin(), sizes.end()));
    const DeviceArray<const std::byte*> d_written(
        std::vector<const std::byte*>(targets_.begin(), targets_.end()));
    cuda::crc32_spans_cuda(d_written.data, d_sizes.data, sizes.size(), d_checksums_.data, nullptr);
    const std::vector<std::uint32_t> checksums = d_checksums_.download(0, sizes.size());
    for (std::size_t i = first_copy_; i < sizes.size(); ++i)
      if (sizes[i] != sizes[i % first_copy_] || checksums[i] != checksums[i % first_copy_]) return false;

    const std::vector<std::byte> rooms = d_output_.download(0, first_copy_ * room_);
    const auto block = [&](std::size_t i) { return std::span(rooms).subspan(i * room_, sizes[i]); };
    std::atomic<bool> right = true;
    tbb::parallel_for(std::size_t{0}, first_copy_, [&](std::size_t i) {
      const std::size_t begin = i * kind_.block_bytes, history = history_at(begin);
      const auto content = std::span(bytes_).subspan(begin, block_bytes_at(begin));
      // What follows a flush is a stream of its own: the last block, with nothing in it.
      Bytes stream(block(i).begin(), block(i).end());
      if (kind_.end == DeflateEnd::kFlush) stream.insert(stream.end(), {std::byte{3}, std::byte{0}});
      const auto restored = testing::inflated_by_zlib(stream, testing::ZlibKind::kDeflate,
                                                      std::span(bytes_).subspan(begin - history, history));
      if (!restored || !std::ranges::equal(*restored, content)) right = false;
      if (begin >= kTwinsBytes) return;
      Bytes expected(room_);
      const EncodedBlock encoded = compress_deflate_block_reference(
          {std::span(bytes_).subspan(begin - history, history + content.size()), history}, level, kind_.end,
          expected);
      if (!std::ranges::equal(std::span(expected).first(encoded.bytes), block(i))) right = false;
    });
    return right;
  }

  std::string file_;
  const Bytes& bytes_;
  Kind kind_;
  std::size_t copies_, total_, first_copy_, room_;
  DeviceArray<std::byte> d_input_, d_output_;
  DeviceArray<DeviceBlock> d_blocks_;
  DeviceArray<std::byte*> d_targets_;
  DeviceArray<std::uint32_t> d_checksums_;
  std::vector<std::byte*> targets_;
  DeviceBlocks batch_;
};

int run(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "deflate_compress_device_bench FOLDER [GIGABYTES [169tbc]]\n");
    return 1;
  }
  const std::size_t in_flight = static_cast<std::size_t>((argc > 2 ? std::atof(argv[2]) : 1) * 1e9);
  const std::string what = argc > 3 ? argv[3] : "169tbc";
  KernelTotals totals;
  for (const char* const file : kFiles) {
    const Bytes bytes = testing::read_file(std::string(argv[1]) + "/silesia/" + file, std::size_t{1} << 30);
    {
      const Blocks blocks(file, bytes, kStream, in_flight);
      for (const auto& [letter, level] : {std::pair{'1', 1}, {'6', 6}, {'9', 9}, {'t', 12}})
        if (what.find(letter) != std::string::npos) blocks.compress(level, totals);
      if (what.find('c') != std::string::npos) blocks.sum_up(totals);
    }
    if (what.find('b') != std::string::npos) Blocks(file, bytes, kBgzf, in_flight).compress(6, totals);
  }
  totals.print();
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) {
  try {
    return hemstitch::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deflate_compress_device_bench: %s\n", error.what());
    return 1;
  }
}
