#include "evaluate/finder_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/status.hpp"
#include "engine/registry.hpp"
#ifdef HEMSTITCH_CUDA
#include "evaluate/cuda_search.hpp"
#include "gpu/cuda/devices.hpp"
#endif
#ifdef HEMSTITCH_WEBGPU
#include "evaluate/webgpu_search.hpp"
#endif
#include "format/lz4/lz4_levels.hpp"
#include "match/hash_step/hash_step_tuning.hpp"

namespace hemstitch {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"brute_force",  "lazy_scan",  "coop_stitch",
                                                    "window_index", "hash_chain", "hash_step"};
constexpr std::size_t kLevelBlockBytes = 256 * 1024;
constexpr std::uint32_t kChainWindowBytes = 32768;
constexpr std::uint32_t kChainDepth = 8;

struct Field {
  std::string_view name;
  std::uint32_t FinderParameters::*member;
};

constexpr std::array kFields = {
    Field{"min_match_len", &FinderParameters::min_match_len},
    Field{"max_match_len", &FinderParameters::max_match_len},
    Field{"window_size", &FinderParameters::window_size},
    Field{"stride", &FinderParameters::stride},
    Field{"near_range", &FinderParameters::near_range},
    Field{"band_origin", &FinderParameters::band_origin},
    Field{"top_k", &FinderParameters::top_k},
    Field{"good_match_len", &FinderParameters::good_match_len},
    Field{"far_step", &FinderParameters::far_step},
    Field{"literal_cost", &FinderParameters::literal_cost},
    Field{"match_fixed_cost", &FinderParameters::match_fixed_cost},
};

Error invalid(const std::string& what) { return Error(Status::kInvalidOption, what); }

std::uint32_t number_of(std::string_view setting, std::string_view value) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || value.empty())
    throw invalid(fmt::format("setting '{}': '{}' is no number", setting, value));
  return number;
}

template <typename Value>
Value one_of(std::string_view setting, std::string_view value,
             std::initializer_list<std::pair<std::string_view, Value>> values) {
  std::string names;
  for (const auto& [name, meaning] : values) {
    if (name == value) return meaning;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  throw invalid(fmt::format("setting '{}': '{}' is none of: {}", setting, value, names));
}

void apply_setting(FinderChoice& choice, std::string_view setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos) throw invalid(fmt::format("setting '{}' has no '=VALUE'", setting));
  const std::string_view name = setting.substr(0, equals);
  const std::string_view value = setting.substr(equals + 1);
  for (const Field& field : kFields)
    if (field.name == name) {
      choice.parameters.*field.member = number_of(setting, value);
      return;
    }
  if (name == "stitch") {
    choice.parameters.stitch = one_of<bool>(setting, value, {{"on", true}, {"off", false}});
  } else if (name == "top_k_policy") {
    choice.parameters.top_k_policy = one_of<TopKPolicy>(
        setting, value, {{"longest", TopKPolicy::kLongest}, {"bucket", TopKPolicy::kLongestPerBucket}});
  } else if (name == "backend") {
    choice.backend = value;
    check_finding_backend(choice.backend, choice.device);
  } else if (auto* chain = std::get_if<HashChainParameters>(&choice.how);
             chain != nullptr && name == "depth") {
    chain->depth = number_of(setting, value);
  } else {
    std::string names = "backend, stitch, top_k_policy, depth (of hash_chain)";
    for (const Field& field : kFields) names += fmt::format(", {}", field.name);
    throw invalid(fmt::format("setting '{}' is none of: {}", name, names));
  }
}

void start_from_level(FinderChoice& choice, const std::string& word) {
  const std::uint32_t level = number_of("level:" + word, word);
  if (level < kMinLevel || level > kMaxLevel)
    throw invalid(fmt::format("level {} is not {} to {}", level, kMinLevel, kMaxLevel));
  choice.how = std::get<HashChainParameters>(lz4_level(static_cast<int>(level), kLevelBlockBytes).finder);
  choice.parameters.window_size = kMaxRecordOffset;
}

void start_from_name(FinderChoice& choice, const std::string& finder) {
  if (finder == "brute_force") {
    choice.how = Finder::kBruteForce;
    choice.parameters.window_size = 4096;
  } else if (finder == "window_index") {
    choice.how = Finder::kWindowIndex;
    choice.parameters.window_size = 4096;
  } else if (finder == "lazy_scan") {
    choice.how = Finder::kLazyScan;
    choice.parameters.near_range = 1024;
    choice.parameters.window_size = 32768;
  } else if (finder == "coop_stitch") {
    choice.how = Finder::kCoopStitch;
  } else if (finder == "hash_chain") {
    choice.how = HashChainParameters{.hash_bits = hash_chain_bits(kLevelBlockBytes),
                                     .depth = kChainDepth,
                                     .cap_bytes = kHashChainCapBytes};
    choice.parameters.window_size = kChainWindowBytes;
  } else if (finder == "hash_step") {
    choice.how = HashStepParameters{.hash_bits = hash_step_bits(kLevelBlockBytes),
                                    .group_positions = kHashStepGroupPositions,
                                    .cap_bytes = kHashStepCapBytes};
    choice.parameters.window_size = kMaxRecordOffset;
  } else {
    throw invalid(fmt::format("finder '{}' is none of: {}, level:N", finder, fmt::join(kNames, ", ")));
  }
}

struct Find {
  const FinderInput& input;
  const FinderParameters& parameters;
  bool stitch;

  FoundMatches operator()(Finder finder) const {
    FoundMatches found;
    if (finder == Finder::kCoopStitch) {
      CoopStitchResult result = coop_stitch_reference(input, parameters);
      found = {std::move(result.records), std::move(result.before_stitch), result.counters};
    } else {
      found.records = find_reference(finder, input, parameters, found.counters.emplace());
    }
    return found;
  }
  FoundMatches operator()(HashChainParameters chain) const {
    chain.window_bytes = parameters.window_size;
    chain.stitch = stitch;
    return {find_hash_chain(input, chain), std::nullopt, std::nullopt};
  }
  FoundMatches operator()(HashStepParameters step) const {
    step.stitch = stitch;
    return {find_hash_step(input, step), std::nullopt, std::nullopt};
  }
};

}  // namespace

void check_finding_backend(const std::string& name, [[maybe_unused]] const std::string& device) {
  std::string names = kReferenceBackend;
#ifdef HEMSTITCH_CUDA
  names += fmt::format(", {}", kCudaBackend);
  if (name == kCudaBackend) {
    cuda::open_device(wanted_device(device));
    return;
  }
#endif
#ifdef HEMSTITCH_WEBGPU
  names += fmt::format(", {}", kWebgpuBackend);
  if (name == kWebgpuBackend) {
    webgpu_adapter_name(device);
    return;
  }
#endif
  if (name != kReferenceBackend)
    throw Error(Status::kUnknownBackend,
                fmt::format("backend '{}' finds no matches; there is: {}", name, names));
}

std::string finding_device_name(const std::string& backend, [[maybe_unused]] const std::string& device) {
#ifdef HEMSTITCH_CUDA
  if (backend == kCudaBackend) return cuda::open_device(wanted_device(device)).facts().name;
#endif
#ifdef HEMSTITCH_WEBGPU
  if (backend == kWebgpuBackend) return webgpu_adapter_name(device);
#endif
  throw Error(Status::kUnknownBackend, fmt::format("this build has no {} backend", backend));
}

FoundMatches FinderChoice::run(const FinderInput& input, bool stitch_on, [[maybe_unused]] bool all) const {
#ifdef HEMSTITCH_CUDA
  if (backend == kCudaBackend) return find_on_cuda(*this, input, stitch_on, all);
#endif
#ifdef HEMSTITCH_WEBGPU
  if (backend == kWebgpuBackend) return find_on_webgpu(*this, input, stitch_on, all);
#endif
  return std::visit(Find{input, parameters, stitch_on}, how);
}

MatchRecords FinderChoice::find(const FinderInput& input) const {
  return run(input, parameters.stitch, false).records;
}

FoundMatches FinderChoice::find_with_stitch_apart(const FinderInput& input) const {
  FoundMatches found = run(input, parameters.stitch, true);
  const bool has_stitch = found.before_stitch || !std::holds_alternative<Finder>(how);
  if (!parameters.stitch || !has_stitch)
    found.before_stitch.reset();
  else if (!found.before_stitch)
    found.before_stitch = run(input, false, false).records;
  return found;
}

FinderChoice choose_finder(const std::string& description) {
  FinderChoice choice;
  choice.name = description;
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= description.size();) {
    const std::size_t end = std::min(description.find(':', begin), description.size());
    words.push_back(description.substr(begin, end - begin));
    begin = end + 1;
  }
  std::size_t next = 1;
  if (words[0] == "level" && words.size() > 1)
    start_from_level(choice, words[next++]);
  else
    start_from_name(choice, words[0]);
  if (words[0] == "coop_stitch" && words.size() > 1 && words[1].find('=') == std::string::npos)
    choice.parameters = finder_preset(words[next++]);
  for (; next < words.size(); ++next) apply_setting(choice, words[next]);
  const Finder* finder = std::get_if<Finder>(&choice.how);
  check_finder_parameters(finder != nullptr ? *finder : Finder::kBruteForce, choice.parameters);
  return choice;
}

std::vector<std::pair<std::string_view, std::uint32_t>> parameters_read(const FinderChoice& choice) {
  std::vector<std::string_view> names = {"min_match_len", "max_match_len", "literal_cost",
                                         "match_fixed_cost"};
  std::vector<std::pair<std::string_view, std::uint32_t>> values;
  const FinderParameters& p = choice.parameters;
  const auto add = [&](auto... added) { (names.emplace_back(added), ...); };
  if (const Finder* finder = std::get_if<Finder>(&choice.how)) {
    add("window_size");
    if (*finder == Finder::kLazyScan) add("near_range", "far_step", "good_match_len");
    if (*finder == Finder::kCoopStitch) {
      add("stride", "near_range", "band_origin", "top_k", "good_match_len");
      values.emplace_back("top_k_per_bucket", p.top_k_policy == TopKPolicy::kLongestPerBucket);
      values.emplace_back("stitch", p.stitch);
    }
  } else if (const auto* chain = std::get_if<HashChainParameters>(&choice.how)) {
    add("window_size");
    values = {{"depth", chain->depth},
              {"hash_bits", chain->hash_bits},
              {"cap_bytes", chain->cap_bytes},
              {"stitch", p.stitch}};
  } else {
    const auto& step = std::get<HashStepParameters>(choice.how);
    values = {{"hash_bits", step.hash_bits},
              {"group_positions", step.group_positions},
              {"cap_bytes", step.cap_bytes},
              {"stitch", p.stitch}};
  }
  for (const std::string_view name : names)
    for (const Field& field : kFields)
      if (field.name == name) values.emplace_back(name, p.*field.member);
  return values;
}

}  // namespace hemstitch
