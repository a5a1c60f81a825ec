#include "match_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/status.hpp"
#include "evaluate/evaluation.hpp"
#include "match/finders.hpp"
#include "match/finders_webgpu.hpp"

namespace hemstitch::web {
namespace {

struct Field {
  std::string_view name;
  std::uint32_t FinderParameters::*member;
};

constexpr std::array kFields = {
    Field{"minMatchLength", &FinderParameters::min_match_len},
    Field{"maxMatchLength", &FinderParameters::max_match_len},
    Field{"windowSize", &FinderParameters::window_size},
    Field{"stride", &FinderParameters::stride},
    Field{"nearRange", &FinderParameters::near_range},
    Field{"bandOrigin", &FinderParameters::band_origin},
    Field{"topK", &FinderParameters::top_k},
    Field{"goodMatchLength", &FinderParameters::good_match_len},
    Field{"farStep", &FinderParameters::far_step},
    Field{"literalCost", &FinderParameters::literal_cost},
    Field{"matchFixedCost", &FinderParameters::match_fixed_cost},
    Field{"hashBits", &FinderParameters::hash_bits},
    Field{"capBytes", &FinderParameters::cap_bytes},
    Field{"depth", &FinderParameters::depth},
    Field{"stitchReach", &FinderParameters::stitch_reach},
    Field{"hashBytes", &FinderParameters::hash_bytes},
    Field{"fewValuesHashBytes", &FinderParameters::few_values_hash_bytes},
};

constexpr std::size_t whole_words(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

// The cost in bits, at the prices of the parameters.
std::uint64_t cost_of(const ParseFigures& figures, const FinderParameters& parameters) {
  return figures.literal_count * parameters.literal_cost + figures.match_count * parameters.match_fixed_cost;
}

}  // namespace

void MatchFinder::set_finder(std::string_view finder) {
  finder_ = static_cast<Finder>(&row_named(finder) - finder_rows().data());
  parameters_ = finder_defaults(finder_);
}

void MatchFinder::set_parse(std::string_view parse) {
  const std::vector<std::string_view> names = parse_names();
  const auto found = std::find(names.begin(), names.end(), parse);
  if (found == names.end())
    throw Error(Status::kInvalidOption,
                fmt::format("there is no parse '{}'; choose one of: {}", parse, fmt::join(names, ", ")));
  parse_ = static_cast<Parse>(found - names.begin());
}

void MatchFinder::set_parameter(std::string_view name, std::uint32_t value) {
  if (name == "stitch") {
    parameters_.stitch = value != 0;
    return;
  }
  if (name == "topKPerBucket") {
    parameters_.top_k_policy = value != 0 ? TopKPolicy::kLongestPerBucket : TopKPolicy::kLongest;
    return;
  }
  const auto field =
      std::find_if(kFields.begin(), kFields.end(), [&](const Field& one) { return one.name == name; });
  if (field == kFields.end())
    throw Error(Status::kInvalidOption, fmt::format("there is no parameter '{}'", name));
  parameters_.*field->member = value;
}

void MatchFinder::check(const Limits& limits) {
  limits_ = limits;
  const MatchingStages stages = stages_of(finder_, parse_, parameters_);
  webgpu::record_matching(webgpu::plan_matching({}), {}, stages);  // throws if a stage is not supported
}

std::uint64_t MatchFinder::most_block_bytes(const Limits& limits) const {
  // Arrays have a word for each byte, or two words for each sequence.
  return limits.binding_bytes / 4 - 2 * webgpu::kTilePositions;
}

std::span<std::byte> MatchFinder::room(std::size_t bytes) {
  data_bytes_ = bytes;
  data_.assign(whole_words(bytes), std::byte{});
  return std::span(data_).first(bytes);
}

std::string MatchFinder::job(std::size_t history_bytes, std::uint32_t begin) {
  begin_ = begin;
  const MatchingStages stages = stages_of(finder_, parse_, parameters_);
  const std::uint32_t shortest = stages.plan.min_match_length;
  table_ = {};
  table_.add(0, static_cast<std::uint32_t>(history_bytes),
             static_cast<std::uint32_t>(data_bytes_ - history_bytes), 0, shortest);
  const webgpu::MatchingPlan plan =
      webgpu::plan_matching({data_.size(), 1, static_cast<std::uint32_t>(table_.tiles.size()),
                             table_.sequence_count, webgpu::find_heads_bytes(stages.finder, 1)});
  begins_.assign(2, 0);
  found_.assign(table_.sequence_count, {});
  return job_text(
      plan.buffers,
      {{plan.batch.data, data_}, {plan.batch.rows, table_.rows}, {plan.batch.tiles, table_.tiles}},
      webgpu::record_matching(plan, table_, stages),
      {{plan.matches.begins, begins_}, {plan.matches.matches, found_}}, limits_);
}

std::vector<std::uint32_t> MatchFinder::take_matches() {
  if (begins_.back() > found_.size())
    throw Error(Status::kDeviceFault, fmt::format("the device gives {} matches where there can be {}",
                                                  begins_.back(), found_.size()));
  std::vector<std::uint32_t> words(3 * begins_.back());
  std::uint32_t* word = words.data();
  for (std::uint32_t i = 0; i < begins_.back(); ++i) {
    *word++ = begin_ + found_[i].position;
    *word++ = record_offset(found_[i].record);
    *word++ = record_length(found_[i].record);
  }
  return words;
}

std::string MatchFinder::judging_job() {
  const AnyFinder finder = checked_finder(row_of(finder_), parameters_);
  const FinderRow& row = row_of(finder_);
  table_ = {};
  table_.add(0, 0, static_cast<std::uint32_t>(data_bytes_), 0, 1);
  webgpu::BufferPlan plan;
  const std::uint64_t array_bytes = data_.size() * sizeof(MatchRecord);
  webgpu::BlockBatch batch;
  batch.data = plan.add("data", data_.size());
  batch.rows = plan.add("blocks", sizeof(webgpu::BlockRow));
  batch.tiles = plan.add("tiles", table_.tiles.size() * sizeof(std::uint32_t));
  webgpu::FinderBuffers buffers{.output = {plan.add("records", array_bytes)}};
  buffers.spare = plan.add("spare", array_bytes);
  buffers.marks = plan.add("marks", table_.tiles.size() * sizeof(std::uint32_t));
  if (const std::uint64_t heads_bytes = webgpu::find_heads_bytes(finder, 1); heads_bytes != 0)
    buffers.heads = plan.add("heads", heads_bytes);
  records_.assign(data_.size(), 0);
  std::vector<Transfer> downloads = {{buffers.output.records, records_}};
  counters_.clear();
  before_stitch_.clear();
  // The device adds to the counters, so the upload starts them at zero.
  std::vector<Transfer> uploads = {
      {batch.data, data_}, {batch.rows, table_.rows}, {batch.tiles, table_.tiles}};
  if (row.counts) {
    counters_.assign(1, {});
    buffers.output.counters = plan.add("counters", sizeof(FindCounters));
    uploads.push_back({*buffers.output.counters, counters_});
    downloads.push_back({*buffers.output.counters, counters_});
  }
  if (row.keeps_before_stitch) {
    before_stitch_.assign(data_.size(), 0);
    buffers.output.before_stitch = plan.add("records before the stitch", array_bytes);
    downloads.push_back({*buffers.output.before_stitch, before_stitch_});
  }
  webgpu::Recording recording;
  webgpu::record_find(finder, recording, batch.of(table_), buffers);
  return job_text(plan, uploads, recording, downloads, limits_);
}

std::string MatchFinder::judgement() {
  constexpr std::uint32_t kDocumentWindow = 4096;  // for criterion 2
  const std::span<const std::byte> data = std::span(data_).first(data_bytes_);
  records_.resize(data_bytes_);
  const auto figures_text = [&](const ParseFigures& figures) {
    return '{' +
           fmt::format(R"("costBits":{},"matchedBytes":{},"matches":{},"literals":{})",
                       cost_of(figures, parameters_), figures.matched_bytes, figures.match_count,
                       figures.literal_count) +
           '}';
  };
  const FinderInput input{data, 0};
  std::string text = R"({"verified":)";
  text += first_wrong_record(input, records_) ? "false" : "true";
  text += R"(,"found":)" + figures_text(parse_figures(data, records_, parameters_));
  if (!before_stitch_.empty()) {
    before_stitch_.resize(data_bytes_);
    text += R"(,"withoutStitch":)" + figures_text(parse_figures(data, before_stitch_, parameters_));
  }
  text += R"(,"optimum":)" + figures_text(optimum(data, kDocumentWindow, parameters_).figures);
  if (!counters_.empty())
    text += fmt::format(R"(,"probes":{},"byteComparisons":{})", counters_[0].probes,
                        counters_[0].byte_comparisons);
  return text += '}';
}

}  // namespace hemstitch::web
