// Prints what batches will do on a device, as JSON: buffers with their sizes, and which steps use them. It
// needs no device; headers_test.py compares the headers of the shaders with it.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/matcher_webgpu.hpp"
#include "format/deflate/compress/deflate_compress_webgpu.hpp"
#include "format/lz4/compress/lz4_compress_webgpu.hpp"
#include "match/finders.hpp"
#include "match/finders_webgpu.hpp"
#include "parse/optimal/optimal_exact_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

constexpr std::uint32_t kBlocks = 4;
constexpr std::uint32_t kBlockBytes = 65536;
constexpr unsigned kNoHash = 0;

BlockTable table_of_blocks(std::uint32_t shortest_match) {
  BlockTable table;
  for (std::uint32_t b = 0; b < kBlocks; ++b)
    table.add(b * kBlockBytes, 0, kBlockBytes, kBlockBytes, shortest_match);
  return table;
}

nlohmann::json plan_json(const std::string& name, const BlockTable& table, const BufferPlan& plan,
                         const Recording& recording, unsigned hash_bits) {
  nlohmann::json json{{"name", name},
                      {"counts",
                       {{"position", table.data_bytes},
                        {"tile", table.tiles.size()},
                        {"block", table.rows.size()},
                        {"sequence", table.sequence_count},
                        {"match", table.sequence_count},
                        {"hash", table.rows.size() << hash_bits}}}};
  for (const BufferPlan::Part& part : plan.parts())
    json["parts"].push_back({{"name", part.name}, {"bytes", part.bytes - kSlackBytes}});
  for (const Step& step : recording.steps()) {
    nlohmann::json bindings = nlohmann::json::array();
    for (std::size_t i = 0; i < step.bindings.size(); ++i)
      if (step.bindings[i].access != Access::kNone)
        bindings.push_back({{"binding", i + 1}, {"part", step.bindings[i].buffer.index}});
    json["steps"].push_back(
        {{"shader", step.shader}, {"entry_point", step.entry_point}, {"bindings", bindings}});
  }
  return json;
}

nlohmann::json matching(Finder finder, const std::string& name) {
  const FinderParameters parameters{.min_match_len = 5};
  const BlockTable table = table_of_blocks(parameters.min_match_len);
  const MatchingStages stages = stages_of(finder, Parse::kOptimal, parameters);
  const MatchingPlan plan =
      plan_matching(matching_capacity(kBlocks, kBlockBytes, parameters.min_match_len, stages.finder));
  return plan_json(name, table, plan.buffers, record_matching(plan, table, stages), kNoHash);
}

nlohmann::json counting(Finder finder, const std::string& name) {
  const BlockTable table = table_of_blocks(5);
  BufferPlan plan;
  const BlockBatch buffers{plan.add("data", table.data_bytes), plan.add("blocks", kBlocks * sizeof(BlockRow)),
                           plan.add("tiles", table.tiles.size() * 4)};
  FinderOutput output{plan.add("records", table.data_bytes * 4), plan.add("counters", sizeof(FindCounters))};
  if (finder == Finder::kCoopStitch) output.before_stitch = plan.add("before stitch", table.data_bytes * 4);
  Recording recording;
  record_find(row_of(finder).with({}), recording, buffers.of(table), {.output = output});
  return plan_json(name, table, plan, recording, kNoHash);
}

nlohmann::json exact_parse() {
  const BlockTable table = table_of_blocks(5);
  BufferPlan plan;
  const BlockBatch buffers{plan.add("data", table.data_bytes), plan.add("blocks", kBlocks * sizeof(BlockRow)),
                           plan.add("tiles", table.tiles.size() * 4)};
  const OptimalExactBuffers ids{plan.add("records", table.data_bytes * 4),
                                plan.add("costs", table.data_bytes * 4),
                                plan.add("decisions", table.data_bytes * 4)};
  Recording recording;
  record_optimal_exact(recording, buffers.of(table), ids, lzss_block_plan(5, 258), FullLengthCostModel{});
  return plan_json("optimal_exact", table, plan, recording, kNoHash);
}

nlohmann::json compressing(int level_number) {
  const Lz4Level level = lz4_level(level_number, kBlockBytes);
  const BlockTable table = table_of_blocks(lz4_block_plan().min_match_length);
  const Lz4CompressPlan plan = plan_lz4_compress(table, table.data_bytes, level);
  return plan_json("LZ4 level " + std::to_string(level_number), table, plan.buffers,
                   record_lz4_compress(plan, table, level, table.data_bytes), hash_bits(level));
}

nlohmann::json compressing_deflate(int level_number) {
  const DeflateLevel level = deflate_level(level_number);
  DeflateCompressTable table;
  for (std::uint32_t b = 0; b < kBlocks; ++b) table.add(b * kBlockBytes, 0, kBlockBytes, kBlockBytes);
  constexpr std::uint64_t kOutputBytes = kBlocks * kBlockBytes;
  const DeflateCompressPlan plan = plan_deflate_compress(table, kOutputBytes, level);
  nlohmann::json json =
      plan_json("DEFLATE level " + std::to_string(level_number), table.blocks, plan.buffers,
                record_deflate_compress(plan, table, level, DeflateEnd::kFlush, kOutputBytes), kNoHash);
  json["counts"]["chunk"] = table.chunks.rows.size();
  json["counts"]["piece"] = table.pieces.size();
  json["counts"]["part"] = table.chunks.rows.size() * plan.parts_a_chunk;
  json["counts"]["hash"] = table.pieces.size() << kDeflateChainHashBits;
  return json;
}

}  // namespace
}  // namespace hemstitch::webgpu

int main() {
  using namespace hemstitch;
  nlohmann::json plans = nlohmann::json::array();
  for (const auto& [finder, name] : {std::pair{Finder::kCoopStitch, "coop_stitch"},
                                     {Finder::kLazyScan, "lazy_scan"},
                                     {Finder::kWindowIndex, "window_index"}}) {
    plans.push_back(webgpu::matching(finder, name));
    plans.push_back(webgpu::counting(finder, std::string(name) + ", counted"));
  }
  plans.push_back(webgpu::exact_parse());
  for (const int level : {1, 3, 12}) plans.push_back(webgpu::compressing(level));
  for (const int level : {1, 12}) plans.push_back(webgpu::compressing_deflate(level));
  std::printf("%s\n", plans.dump().c_str());
  return 0;
}
