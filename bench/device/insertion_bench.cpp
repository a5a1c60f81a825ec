// The tiled and the direct atomic insertion of founding document 003 (docs/founding.md), beside chains that
// are built in order: speed, order of the links, and the cost of the matches found with them ("c9",
// evaluate/evaluation.hpp, at a depth of 32 within 32 KB, no stitch).
//
//   insertion_device_bench FOLDER      with the Silesia files in FOLDER/silesia
//
// The corpus is repeated to 1 MB .. 2 GB. "exact" are the links of a stable sort by hash; "ordered" is
// hash_chain's build over blocks of 64 KB with 32 KB before them. Effective GB/s count what the document
// counts, 13 bytes for each position: one byte read, a head read and written, a link written. The share of
// match time is build / (build + walk).
#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "device_timing.hpp"
#include "evaluate/evaluation.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "insertion/insertion.hpp"
#include "match/common/cuda/device_block.hpp"
#include "match/finders.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "shapes.hpp"

namespace hemstitch::bench {
namespace {

using testing::Bytes;
using Row = nlohmann::ordered_json;

constexpr std::uint32_t kSizes[] = {1u << 20, 16u << 20, 128u << 20, 2'000'000'000u};
constexpr std::uint32_t kTileTrialBytes = 128u << 20;
constexpr std::uint32_t kDocumentTileBytes = 2048;
constexpr unsigned kHashBits = 17;  // for the one table of all
constexpr std::uint32_t kDepth = 32;
constexpr std::uint32_t kWindowBytes = 32768;
constexpr double kEffectiveBytes = 13;
constexpr std::uint32_t kBlockBytes = 64 * 1024;
constexpr std::uint32_t kMostWalkCalls = 5;

// c9 is computed for pieces of this size, evenly spread.
constexpr std::uint32_t kPieceBytes = 256 * 1024;
constexpr std::uint32_t kMostPieces = 64;

class Insertion {
 public:
  Insertion(const Bytes& corpus, std::uint32_t bytes)
      : corpus_(corpus),
        d_data_(bytes, stream_.get()),
        d_heads_(std::size_t{1} << kHashBits, stream_.get()),
        d_links_(bytes, stream_.get()),
        d_exact_(bytes, stream_.get()),
        d_records_(bytes, stream_.get()) {
    for (std::size_t filled = 0; filled < bytes; filled += corpus.size())
      cuda::check(
          cudaMemcpyAsync(d_data_.get() + filled, corpus.data(), std::min(corpus.size(), bytes - filled),
                          cudaMemcpyHostToDevice, stream_.get()),
          "cudaMemcpyAsync");
    chains_ = {d_data_.get(), bytes, kHashBits, d_heads_.get(), d_links_.get()};
    walk_calls_ = bytes > kTileTrialBytes ? 1 : kMostWalkCalls;
    measure_exact();
  }

  void measure(const std::string& finder, Row details, const std::function<void()>& insert) {
    const double build = median_seconds(stream_.get(), kMostWalkCalls, insert);
    print(finder, details, build, walk_seconds(chains_), &d_links_);
  }
  void direct(Caching caching) {
    measure("direct", {{"caching", name_of(caching)}},
            [&] { insert_directly(chains_, caching, stream_.get()); });
  }
  void tiled(std::uint32_t tile_bytes, Caching caching) {
    measure("tiled",
            {{"caching", name_of(caching)},
             {"tile_bytes", tile_bytes},
             {"tiles_a_multiprocessor", tiles_a_multiprocessor(tile_bytes)}},
            [&] { insert_in_tiles(chains_, tile_bytes, caching, stream_.get()); });
  }

  // The build and walk of hash_chain itself.
  void ordered() {
    std::vector<DeviceBlock> blocks;
    for (std::uint32_t begin = 0; begin < chains_.bytes;
         begin += std::min(kBlockBytes, chains_.bytes - begin))
      blocks.push_back({chains_.d_data + begin, std::min(kBlockBytes, chains_.bytes - begin),
                        std::min(begin, kWindowBytes), begin});
    cuda::DeviceBuffer<DeviceBlock> d_blocks(blocks.size(), stream_.get());
    d_blocks.upload(blocks);
    const DeviceBlocks batch{d_blocks.get(), static_cast<std::uint32_t>(blocks.size()), kBlockBytes,
                             kWindowBytes, chains_.bytes};
    const HashChainParameters parameters{
        .hash_bits = 14, .depth = kDepth, .cap_bytes = 64, .window_bytes = kWindowBytes, .stitch = false};
    const cuda::DeviceBuffer<std::byte> scratch(cuda::find_hash_chain_cuda_scratch_bytes(batch, parameters),
                                                stream_.get());
    const double build = median_seconds(stream_.get(), kMostWalkCalls, [&] {
      cuda::build_hash_chains_cuda(batch, parameters, scratch.get(), scratch.bytes(), stream_.get());
    });
    const double find = median_seconds(stream_.get(), walk_calls_, [&] {
      cuda::find_hash_chain_cuda(batch, parameters, d_records_.get(), scratch.get(), scratch.bytes(),
                                 stream_.get());
    });
    print("ordered", Row::object(), build, find - build, nullptr);
  }

 private:
  static const char* name_of(Caching caching) { return caching == Caching::kHinted ? "hinted" : "default"; }

  void measure_exact() {
    ChainInput exact = chains_;
    exact.d_links = d_exact_.get();
    const cuda::DeviceBuffer<std::byte> scratch(exact_links_scratch_bytes(exact), stream_.get());
    const double build = median_seconds(stream_.get(), kMostWalkCalls, [&] {
      exact_links(exact, scratch.get(), scratch.bytes(), stream_.get());
    });
    print("exact", Row::object(), build, walk_seconds(exact), &d_exact_);
  }

  double walk_seconds(const ChainInput& chains) {
    return median_seconds(stream_.get(), walk_calls_, [&] {
      walk_chains(chains, kDepth, kWindowBytes, d_records_.get(), stream_.get());
    });
  }

  struct Judgement {
    double cost;
    bool verified;  // whether every match of the pieces repeats equal bytes
  };

  // The last bytes of the repeated corpus before `end`.
  Bytes text_before(std::size_t end, std::size_t bytes) const {
    Bytes text(bytes);
    for (std::size_t i = 0; i < bytes; ++i) text[i] = corpus_[(end - bytes + i) % corpus_.size()];
    return text;
  }

  // Judges pieces, which are parsed independently.
  Judgement judge() {
    const std::uint32_t piece_count = std::min(kMostPieces, chains_.bytes / kPieceBytes);
    std::vector<MatchRecords> pieces(piece_count, MatchRecords(kPieceBytes));
    for (std::uint32_t i = 0; i < piece_count; ++i) {
      const std::size_t begin = chains_.bytes / piece_count * std::size_t{i};
      cuda::check(cudaMemcpyAsync(pieces[i].data(), d_records_.get() + begin,
                                  kPieceBytes * sizeof(MatchRecord), cudaMemcpyDeviceToHost, stream_.get()),
                  "cudaMemcpyAsync");
    }
    stream_.synchronize();
    const FinderParameters parameters;
    std::atomic<bool> verified = true;
    const std::uint64_t bits = tbb::parallel_reduce(
        tbb::blocked_range<std::uint32_t>(0, piece_count, 1), std::uint64_t{0},
        [&](const tbb::blocked_range<std::uint32_t>& range, std::uint64_t sum) {
          for (std::uint32_t i = range.begin(); i != range.end(); ++i) {
            for (std::uint32_t p = 0; p < kPieceBytes; ++p)
              pieces[i][p] = pack_match(record_offset(pieces[i][p]),
                                        std::min(record_length(pieces[i][p]), kPieceBytes - p));
            const std::size_t begin = chains_.bytes / piece_count * std::size_t{i};
            const std::size_t history = std::min<std::size_t>(begin, kWindowBytes);
            const Bytes text = text_before(begin + kPieceBytes, history + kPieceBytes);
            if (first_wrong_record({text, history}, pieces[i])) verified = false;
            const ParseFigures figures = parse_figures({}, pieces[i], parameters);
            sum += figures.literal_count * parameters.literal_cost +
                   figures.match_count * parameters.match_fixed_cost;
          }
          return sum;
        },
        std::plus<>());
    return {static_cast<double>(bits) / (8.0 * piece_count * kPieceBytes), verified};
  }

  void print(const std::string& finder, const Row& details, double build, double walk,
             const cuda::DeviceBuffer<std::uint32_t>* links) {
    const double positions = chains_.bytes;
    const Judgement judgement = judge();
    Row row{{"what", "build"}, {"backend", "cuda"}, {"finder", finder}};
    row.update(details);
    row.update({{"file", "corpus"},
                {"bytes", chains_.bytes},
                {"gbps", positions / build * 1e-9},
                {"effective_gbps", kEffectiveBytes * positions / build * 1e-9},
                {"span", "kernel"},
                {"share_of_match_time", build / (build + walk)},
                {"depth", kDepth},
                {"c9", judgement.cost},
                {"verified", judgement.verified}});
    if (links != nullptr) {
      LinkOrder order;
      cuda::DeviceBuffer<LinkOrder> d_order(1, stream_.get());
      d_order.upload({&order, 1});
      ChainInput judged = chains_;
      judged.d_links = links->get();
      judge_links(judged, d_exact_.get(), d_order.get(), stream_.get());
      d_order.download({&order, 1});
      stream_.synchronize();
      row["links_forward"] = static_cast<double>(order.forward) / static_cast<double>(order.links);
      row["links_not_exact"] = static_cast<double>(order.not_exact) / static_cast<double>(order.links);
    }
    fmt::print("{}\n", row.dump());
    std::fflush(stdout);
  }

  const Bytes& corpus_;
  cuda::Stream stream_;
  cuda::DeviceBuffer<std::byte> d_data_;
  cuda::DeviceBuffer<std::uint32_t> d_heads_;
  cuda::DeviceBuffer<std::uint32_t> d_links_;
  cuda::DeviceBuffer<std::uint32_t> d_exact_;
  cuda::DeviceBuffer<MatchRecord> d_records_;
  ChainInput chains_;
  int walk_calls_ = 1;
};

}  // namespace
}  // namespace hemstitch::bench

int main(int argument_count, char** arguments) {
  using namespace hemstitch;
  if (argument_count != 2) {
    fmt::print(stderr, "usage: insertion_device_bench FOLDER\n");
    return 2;
  }
  try {
    testing::Bytes corpus;
    for (const char* name : {"dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml"}) {
      const testing::Bytes file = testing::read_file(std::filesystem::path(arguments[1]) / "silesia" / name);
      corpus.insert(corpus.end(), file.begin(), file.end());
    }
    using bench::Caching;
    for (const std::uint32_t bytes : bench::kSizes) {
      bench::Insertion insertion(corpus, bytes);
      for (const Caching caching : {Caching::kDefault, Caching::kHinted}) {
        insertion.direct(caching);
        insertion.tiled(bench::kDocumentTileBytes, caching);
      }
      if (bytes == bench::kTileTrialBytes)
        for (const std::uint32_t tile_bytes : {1024u, 4096u, 6144u})
          insertion.tiled(tile_bytes, Caching::kDefault);
      insertion.ordered();
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "insertion_device_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
