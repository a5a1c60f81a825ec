// What writing blocks of Zstandard costs on a CUDA device behind the parse, stage by stage.
//
//   zstd_encode_device_bench FOLDER [GIGABYTES [LEVELS]]
//
// FOLDER holds silesia/. Each of nine files is parsed on the processor as by the twin, without passes of the optimal parse, and repeated until there are
// GIGABYTES (1) of content in flight. LEVELS is one or both of the digits 1 and 3, 1 by default: without and with the far finder.
// Rows: "value", "choose", "state" and "pack", the stages (zstd_encoder_stages_cuda.hpp); "prices", what a pass needs that another one follows; "back_end", all
// four stages. Every figure is the median of five runs after one to warm up. Prints one row of a recorded run a line, and for each kind one of
// all files: their bytes by their seconds. A row is verified when the blocks of the first copy of the file are the twin's, libzstd restores them, and all copies
// have the sizes and checksums of the first.
#include <tbb/parallel_for.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "device_array.hpp"
#include "device_timing.hpp"
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "format/zstd/compress/entropy/zstd_block_writer.hpp"
#include "format/zstd/compress/parse/zstd_lazy.hpp"
#include "format/zstd/compress/zstd_compress_reference.hpp"
#include "format/zstd/compress/zstd_encoder_stages_cuda.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/zstd_levels.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "gpu/cuda/scratch.hpp"
#include "kernel_totals.hpp"
#include "match/hash_chain/hash_width.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using bench::KernelTotals;
using bench::median_seconds;
using bench::median_step_seconds;
using cuda::check;
using testing::Bytes;

constexpr int kRuns = 5;
constexpr const char* kFiles[] = {"dickens", "nci",     "samba", "mr", "osdb",
                                  "ooffice", "reymont", "x-ray", "xml"};

// The lazy parse of each of the file's blocks.
std::vector<std::vector<Sequence>> parsed_by_twin(const Bytes& bytes, const ZstdLevel& level) {
  std::vector<std::vector<Sequence>> parsed((bytes.size() + kZstdOwnBlockBytes - 1) / kZstdOwnBlockBytes);
  tbb::parallel_for(std::size_t{0}, (bytes.size() + kZstdFindBytes - 1) / kZstdFindBytes, [&](std::size_t i) {
    const std::size_t begin = i * kZstdFindBytes, end = std::min(begin + kZstdFindBytes, bytes.size());
    const auto piece = [&](std::size_t window_bytes) {
      const std::size_t history = std::min(begin, window_bytes);
      return FinderInput{std::span(bytes).subspan(begin - history, history + end - begin), history};
    };
    const FinderInput near_piece = piece(kZstdNearWindowBytes);
    const MatchRecords records = find_hash_chain(near_piece, level.finder);
    const bool has_few = has_few_values(near_piece.data.subspan(near_piece.history_bytes));
    const NearOffsets near = has_few ? NearOffsets(end - begin, 0) : find_near_three(near_piece, level.near);
    WideRecords far;
    if (!level.far.empty()) far = find_far(piece(level.far[0].window_bytes), level.far[0]);
    for (std::size_t at = begin; at < end; at += kZstdOwnBlockBytes) {
      const std::size_t block_bytes = std::min(kZstdOwnBlockBytes, end - at), place = at - begin;
      ZstdParseInput input{std::span(bytes).first(at + block_bytes),
                           at,
                           std::span(records).subspan(place, block_bytes),
                           std::span(near).subspan(place, block_bytes),
                           {}};
      if (!far.empty()) input.far_records[0] = std::span(far).subspan(place, block_bytes);
      parsed[at / kZstdOwnBlockBytes] = parse_zstd_lazy(input);
    }
  });
  return parsed;
}

void measure(const std::string& file, const Bytes& bytes, int level_number, std::size_t in_flight,
             KernelTotals& totals) {
  const std::vector<std::vector<Sequence>> parsed = parsed_by_twin(bytes, zstd_level(level_number));
  const std::size_t first_copy = parsed.size(), copies = std::max<std::size_t>(1, in_flight / bytes.size());
  const std::size_t total = copies * bytes.size(), room_bytes = kZstdOwnBlockBytes + 8;
  const DeviceArray<std::byte> d_input(total), d_output(copies * first_copy * room_bytes);
  std::vector<DeviceBlock> list;
  std::vector<std::byte*> targets;
  for (std::size_t copy = 0; copy < copies; ++copy) {
    check(cudaMemcpy(d_input.data + copy * bytes.size(), copy == 0 ? bytes.data() : d_input.data,
                     bytes.size(), cudaMemcpyDefault),
          "cudaMemcpy");
    for (std::size_t begin = 0; begin < bytes.size(); begin += kZstdOwnBlockBytes) {
      const std::size_t position = copy * bytes.size() + begin;
      list.push_back({d_input.data + position,
                      static_cast<std::uint32_t>(std::min(kZstdOwnBlockBytes, bytes.size() - begin)),
                      static_cast<std::uint32_t>(begin), position});
      // At all alignments.
      targets.push_back(d_output.data + targets.size() * room_bytes + targets.size() % 5);
    }
  }
  const DeviceArray<DeviceBlock> d_list(list);
  const DeviceArray<std::byte*> d_targets(targets);
  const DeviceBlocks blocks{d_list.data, static_cast<std::uint32_t>(list.size()),
                            static_cast<std::uint32_t>(std::min(kZstdOwnBlockBytes, bytes.size())),
                            static_cast<std::uint32_t>(bytes.size()), total};
  std::vector<Sequence> lists(cuda::device_sequence_capacity(blocks, zstd_block_plan()));
  std::vector<std::uint32_t> counts;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const std::vector<Sequence>& one = parsed[i % first_copy];
    counts.push_back(static_cast<std::uint32_t>(one.size()));
    std::ranges::copy(one, &lists[first_sequence(list[i].position, i, zstd_block_plan())]);
  }
  const DeviceArray<Sequence> d_lists(lists);
  const DeviceArray<std::uint32_t> d_counts(counts), d_sizes(list.size()), d_checksums(list.size());
  const DeviceArray<ZstdDevicePrices> d_prices(list.size());
  const cuda::DeviceSequences sequences{d_lists.data, d_counts.data, nullptr};
  cuda::Carver counted(nullptr);
  cuda::take_zstd_encode_room(blocks, counted, counted);
  const DeviceArray<std::byte> scratch(counted.bytes());
  cuda::Carver carver(scratch.data);
  const cuda::ZstdEncodeRoom room = cuda::take_zstd_encode_room(blocks, carver, carver);

  const double price_seconds = median_seconds(
      nullptr, kRuns, [&] { cuda::price_zstd_blocks_cuda(blocks, sequences, room, d_prices.data, nullptr); });
  const std::vector<double> seconds =
      median_step_seconds(nullptr, kRuns,
                          {[&] { cuda::value_zstd_sequences_cuda(blocks, sequences, true, room, nullptr); },
                           [&] { cuda::choose_zstd_tables_cuda(blocks, true, room, nullptr, nullptr); },
                           [&] { cuda::state_zstd_sequences_cuda(blocks, room, d_sizes.data, nullptr); },
                           [&] { cuda::pack_zstd_blocks_cuda(blocks, room, d_targets.data, nullptr); }});

  // All copies are the first one, which is the twin's.
  const std::vector<std::uint32_t> sizes = d_sizes.download(0, list.size());
  const DeviceArray<std::size_t> d_written_bytes(std::vector<std::size_t>(sizes.begin(), sizes.end()));
  const DeviceArray<const std::byte*> d_written(
      std::vector<const std::byte*>(targets.begin(), targets.end()));
  cuda::crc32_spans_cuda(d_written.data, d_written_bytes.data, sizes.size(), d_checksums.data, nullptr);
  const std::vector<std::uint32_t> checksums = d_checksums.download(0, sizes.size());
  std::atomic<bool> verified = true;
  for (std::size_t i = first_copy; i < sizes.size(); ++i)
    if (sizes[i] != sizes[i % first_copy] || checksums[i] != checksums[i % first_copy]) verified = false;
  const std::vector<std::byte> rooms = d_output.download(0, first_copy * room_bytes);
  const auto written = [&](std::size_t i) {
    return std::span(rooms).subspan(i * room_bytes + i % 5, std::min<std::size_t>(sizes[i], room_bytes - 4));
  };
  tbb::parallel_for(std::size_t{0}, first_copy, [&](std::size_t i) {
    const std::size_t begin = i * kZstdOwnBlockBytes;
    Bytes expected;
    put_zstd_block(std::span(bytes).subspan(begin, std::min(kZstdOwnBlockBytes, bytes.size() - begin)),
                   parsed[i], expected);
    if (!std::ranges::equal(expected, written(i))) verified = false;
  });
  Bytes frame(kZstdMostHeaderBytes);
  frame.resize(write_zstd_header({.window_bytes = kFarWindowBytes}, frame.data()));
  for (std::size_t i = 0; i < first_copy; ++i)
    frame.insert(frame.end(), written(i).begin(), written(i).end());
  frame.insert(frame.end(), kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end());
  Bytes restored(bytes.size());
  const std::size_t restored_bytes =
      ZSTD_decompress(restored.data(), restored.size(), frame.data(), frame.size());
  if (restored_bytes != bytes.size() || restored != bytes) verified = false;

  const double ratio = static_cast<double>(bytes.size()) / static_cast<double>(frame.size());
  const auto add = [&](const char* what, double step_seconds, bool has_ratio) {
    totals.add({what, "zstd", std::to_string(level_number), file, kZstdOwnBlockBytes, total,
                has_ratio ? ratio : 0, static_cast<double>(total) / step_seconds / 1e9, verified},
               bytes.size(), has_ratio ? frame.size() : 0);
  };
  add("value", seconds[0], false);
  add("choose", seconds[1], false);
  add("state", seconds[2], false);
  add("pack", seconds[3], false);
  add("prices", price_seconds, false);
  add("back_end", seconds.back(), true);
}

int run(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "zstd_encode_device_bench FOLDER [GIGABYTES [13]]\n");
    return 1;
  }
  const std::size_t in_flight = static_cast<std::size_t>((argc > 2 ? std::atof(argv[2]) : 1) * 1e9);
  const std::string levels = argc > 3 ? argv[3] : "1";
  KernelTotals totals;
  for (const char* const file : kFiles) {
    const Bytes bytes = testing::read_file(std::string(argv[1]) + "/silesia/" + file, std::size_t{1} << 30);
    for (const char level : levels) measure(file, bytes, level - '0', in_flight, totals);
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
    std::fprintf(stderr, "zstd_encode_device_bench: %s\n", error.what());
    return 1;
  }
}
