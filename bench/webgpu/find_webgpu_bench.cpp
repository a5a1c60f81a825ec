// The searching finders and the parses of the WebGPU backend on a real file. Prints one JSON row on each line
// of standard output, as in bench/results. Every result is compared with the twin's.
//
//   find_webgpu_bench FILE [RUNS]      a folder of real files instead: canterbury/alice29.txt in it
//
// find         device time of a finder's pass over 1 MB in blocks of 64 KB (timestamps; the median of RUNS)
// find+parse   LzssMatcher from call to result, with upload and read-back, warm: one block of 256 KB, and 64
//              MB in blocks of 64 KB
// parse        device time of optimal, which solves segments at once, and of optimal_exact, one invocation
//              for the block, over one block of 64 KB, 256 KB, 1 MB and 4 MB, with the cost of what each
//              chooses
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "api/matcher_webgpu.hpp"
#include "core/status.hpp"
#include "gpu/device_names.hpp"
#include "gpu/webgpu/devices.hpp"
#include "hemstitch/match.hpp"
#include "match/finders.hpp"
#include "match/finders_webgpu.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "parse/optimal/optimal_exact_webgpu.hpp"
#include "parse/optimal/optimal_reference.hpp"
#include "parse/optimal/optimal_webgpu.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using testing::Bytes;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::size_t kKilobyte = 1024;
constexpr std::size_t kBlockBytes = 64 * kKilobyte;

struct Job {
  std::string file;
  int runs = 5;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

void require(bool holds, const std::string& what) {
  if (holds) return;
  fmt::print(stderr, "WRONG: {}\n", what);
  std::exit(1);
}

Bytes repeated(const Bytes& bytes, std::size_t count) {
  Bytes all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = bytes[i % bytes.size()];
  return all;
}

std::vector<MatchBlock> cut(const Bytes& bytes) {
  std::vector<MatchBlock> blocks;
  for (std::size_t at = 0; at < bytes.size(); at += kBlockBytes)
    blocks.push_back({std::span(bytes).subspan(at, std::min(kBlockBytes, bytes.size() - at)), 0});
  return blocks;
}

void print_row(const Job& job, Json row, std::size_t bytes, double seconds) {
  row["backend"] = "webgpu";
  row["file"] = job.file;
  row["bytes"] = bytes;
  row["ms"] = 1e3 * seconds;
  row["gbps"] = 1e-9 * static_cast<double>(bytes) / seconds;
  row["verified"] = true;
  fmt::print("{}\n", row.dump());
  std::fflush(stdout);
}

// The median of the runs, each the sum of all steps of `shader`; by the host's clock if the device does not
// report times.
double device_seconds(Device& device, const Recording& recording, const BufferSet& buffers, int runs,
                      std::string_view shader, std::string& clock) {
  clock = "device";
  std::vector<double> sums;
  for (int run = 0; run <= runs; ++run) {
    std::vector<StepTime> times;
    const auto begin = Clock::now();
    device.run(recording, buffers, &times);
    double sum = 0;
    for (const StepTime& time : times) {
      if (!time.seconds) clock = "host";
      if (time.name.starts_with(shader)) sum += time.seconds.value_or(0);
    }
    if (times.empty() || clock == "host") {
      clock = "host";
      std::uint32_t word = 0;
      device.read(buffers[0], std::as_writable_bytes(std::span(&word, 1)));
      sum = seconds_since(begin);
    }
    if (run > 0) sums.push_back(sum);
  }
  return median(sums);
}

struct NamedFinder {
  const char* name;
  Finder finder;
  FinderParameters parameters;
};

std::vector<NamedFinder> finders() {
  FinderParameters no_stitch;
  no_stitch.stitch = false;
  return {{"coop_stitch:4k", Finder::kCoopStitch, finder_preset("4k")},
          {"coop_stitch:4k:stitch=off", Finder::kCoopStitch, no_stitch},
          {"coop_stitch:32k", Finder::kCoopStitch, finder_preset("32k")},
          {"coop_stitch:near-1k", Finder::kCoopStitch, finder_preset("near-1k")},
          {"window_index:4096", Finder::kWindowIndex, {.window_size = 4096}},
          {"lazy_scan", Finder::kLazyScan, {.window_size = 32768, .near_range = 1024}}};
}

void bench_find(Device& device, const Job& job, const Bytes& bytes) {
  const Bytes data = repeated(bytes, 1024 * kKilobyte);
  BlockTable table;
  for (std::size_t at = 0; at < data.size(); at += kBlockBytes)
    table.add(static_cast<std::uint32_t>(at), 0, kBlockBytes, 0, 3);
  const MatchingPlan plan =
      plan_matching(matching_capacity(static_cast<std::uint32_t>(table.rows.size()), kBlockBytes, 3, {}));
  const BlockBatch batch = plan.batch.of(table);
  const BufferSet buffers = device.make_buffers(plan.buffers);
  device.write(buffers[batch.data.index], data);
  device.write(buffers[batch.rows.index], std::as_bytes(std::span(table.rows)));
  device.write(buffers[batch.tiles.index], std::as_bytes(std::span(table.tiles)));
  for (const NamedFinder& one : finders()) {
    Recording recording;
    const AnyFinder finder = row_of(one.finder).with(one.parameters);
    record_find(finder, recording, batch, plan.finder);
    std::string clock;
    const double seconds = device_seconds(device, recording, buffers, job.runs, "match/", clock);
    MatchRecords first(kBlockBytes);
    device.read(buffers[plan.finder.output.records.index], std::as_writable_bytes(std::span(first)));
    require(first == find_reference(finder, {std::span(data).first(kBlockBytes), 0}).records, one.name);
    print_row(job,
              {{"what", "find"},
               {"finder", one.name},
               {"block_bytes", kBlockBytes},
               {"span", "kernel"},
               {"clock", clock}},
              data.size(), seconds);
  }
}

void bench_matcher(const Job& job, const Bytes& bytes, std::size_t total_bytes, bool one_block,
                   bool is_software) {
  const Bytes data = repeated(bytes, total_bytes);
  const std::vector<MatchBlock> blocks = one_block ? std::vector<MatchBlock>{{data, 0}} : cut(data);
  for (const NamedFinder& one : finders()) {
    if (one.finder == Finder::kLazyScan && (!one_block || is_software)) continue;  // takes minutes
    const LzssMatcher matcher(one.parameters, one.finder, "webgpu");
    const auto first_begin = Clock::now();
    auto matches = matcher.find_matches(blocks);
    const double first_seconds = seconds_since(first_begin);
    std::vector<double> warm;
    for (int run = 0; run < 2 * job.runs + 1; ++run) {
      const auto begin = Clock::now();
      matches = matcher.find_matches(blocks);
      warm.push_back(seconds_since(begin));
    }
    const LzssMatcher reference(one.parameters, one.finder);
    require(matches.front() == reference.find_matches(std::span(blocks).first(1)).front(), one.name);
    print_row(job,
              {{"what", "find+parse"},
               {"finder", one.name},
               {"block_bytes", blocks.front().data.size()},
               {"span", "host"},
               {"first_call_ms", 1e3 * first_seconds},
               {"fastest_ms", 1e3 * *std::min_element(warm.begin(), warm.end())}},
              data.size(), median(warm));
  }
}

std::uint64_t cost_bits(const std::vector<PositionedMatch>& matches, std::size_t bytes,
                        const FinderParameters& parameters) {
  std::uint64_t matched = 0;
  for (const PositionedMatch& match : matches) matched += match.length;
  return (bytes - matched) * parameters.literal_cost + matches.size() * parameters.match_fixed_cost;
}

// Reads the result of record_matches() for the only block.
std::vector<PositionedMatch> matches_on(Device& device, const BufferSet& buffers, const MatchingPlan& plan) {
  std::vector<std::uint32_t> begins(2);
  device.read(buffers[plan.matches.begins.index], std::as_writable_bytes(std::span(begins)));
  std::vector<DeviceMatch> all(begins[1]);
  device.read(buffers[plan.matches.matches.index], std::as_writable_bytes(std::span(all)));
  std::vector<PositionedMatch> matches;
  for (const DeviceMatch& match : all)
    matches.push_back({match.position, record_offset(match.record), record_length(match.record)});
  return matches;
}

void bench_parse(Device& device, const Job& job, const Bytes& bytes) {
  const FinderParameters parameters;
  const BlockPlan block_plan = lzss_block_plan(parameters.min_match_len, parameters.max_match_len);
  for (const std::size_t kilobytes : {64u, 256u, 1024u, 4096u}) {
    const Bytes data = repeated(bytes, kilobytes * kKilobyte);
    const auto data_bytes = static_cast<std::uint32_t>(data.size());
    const MatchRecords records = find_hash_chain({data, 0}, {.hash_bits = 14, .depth = 4});
    BlockTable table;
    table.add(0, 0, data_bytes, 0, parameters.min_match_len);
    MatchingPlan plan = plan_matching(matching_capacity(1, data_bytes, parameters.min_match_len, {}));
    const BufferId source = plan.buffers.add("records", data.size() * 4);
    const BufferId costs = plan.buffers.add("costs", data.size() * 4);
    plan.batch = plan.batch.of(table);
    const BufferSet buffers = device.make_buffers(plan.buffers);
    device.write(buffers[plan.batch.rows.index], std::as_bytes(std::span(table.rows)));
    device.write(buffers[plan.batch.tiles.index], std::as_bytes(std::span(table.tiles)));
    device.write(buffers[source.index], std::as_bytes(std::span(records)));
    for (const bool exact : {false, true}) {
      Recording recording;
      if (exact) {
        record_optimal_exact(recording, plan.batch, {source, costs, plan.walk.decisions}, block_plan,
                             FullLengthCostModel{});
      } else {
        record_optimal(recording, plan.batch, source, plan.walk.decisions, block_plan, FullLengthCostModel{});
      }
      record_walk(recording, plan.batch, plan.walk);
      record_matches(recording, plan.batch, plan.walk, plan.matches, plan.scan, table.sequence_count);
      std::string clock;
      const int runs = exact && kilobytes > 256 ? 1 : job.runs;
      const double seconds = device_seconds(device, recording, buffers, runs, "parse/optimal/", clock);
      const std::vector<PositionedMatch> matches = matches_on(device, buffers, plan);
      const std::vector<Sequence> twin =
          exact ? parse_optimal_exact(ParseInput{records, block_plan}, FullLengthCostModel{})
                : parse_optimal(ParseInput{records, block_plan}, FullLengthCostModel{});
      const std::uint64_t bits = cost_bits(matches, data.size(), parameters);
      require(bits * kCostUnitsPerBit == parse_cost(twin, FullLengthCostModel{}), "parse");
      print_row(job,
                {{"what", "parse"},
                 {"parse", exact ? "optimal_exact" : "optimal"},
                 {"block_bytes", data.size()},
                 {"span", "kernel"},
                 {"clock", clock},
                 {"cost", static_cast<double>(bits) / (8.0 * static_cast<double>(data.size()))}},
                data.size(), seconds);
    }
  }
}

int run(int argument_count, char** arguments) {
  if (argument_count < 2) {
    fmt::print(stderr, "find_webgpu_bench FILE [RUNS]\n");
    return 1;
  }
  std::filesystem::path path = arguments[1];
  if (std::filesystem::is_directory(path)) path = path / "canterbury" / "alice29.txt";
  Job job{path.filename().string(), argument_count > 2 ? std::atoi(arguments[2]) : 5};
  const Bytes bytes = testing::read_file(path);
  const std::shared_ptr<Device> device = open_device(wanted_device({}));
  const bool is_software = device->adapter().kind == AdapterKind::kSoftware;
  fmt::print(stderr, "{}\n", device->adapter().name);
  bench_parse(*device, job, bytes);
  bench_find(*device, job, bytes);
  bench_matcher(job, bytes, 256 * kKilobyte, true, is_software);
  if (!is_software) bench_matcher(job, bytes, 64 * 1024 * kKilobyte, false, is_software);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argument_count, char** arguments) {
  try {
    return hemstitch::run(argument_count, arguments);
  } catch (const hemstitch::Error& error) {
    fmt::print(stderr, "find_webgpu_bench: {}\n", error.what());
    return 1;
  }
}
