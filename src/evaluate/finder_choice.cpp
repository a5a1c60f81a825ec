#include "evaluate/finder_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/messages.hpp"
#include "core/status.hpp"
#include "gpu/device_names.hpp"
#ifdef HEMSTITCH_CUDA
#include "evaluate/find_on_cuda.hpp"
#include "gpu/cuda/devices.hpp"
#endif
#ifdef HEMSTITCH_WEBGPU
#include "gpu/webgpu/devices.hpp"
#include "match/find_webgpu.hpp"
#endif
#include "format/formats.hpp"
#include "hemstitch/finder_numbers.hpp"
#include "match/finders.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kLevelBlockBytes = 256 << 10;
constexpr std::array<std::string_view, 4> kFieldsOfAll = {"min_match_len", "max_match_len", "literal_cost",
                                                          "match_fixed_cost"};

Error invalid(const std::string& what) { return Error(Status::kInvalidOption, what); }

std::uint32_t number_of(std::string_view setting, std::string_view value) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || value.empty())
    throw invalid(fmt::format("setting '{}': '{}' is not a number", setting, value));
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
  throw invalid(fmt::format("setting '{}' is '{}'; choose one of: {}", setting, value, names));
}

void apply_setting(FinderChoice& choice, std::string_view setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos) throw invalid(fmt::format("setting '{}' has no '=VALUE'", setting));
  const std::string_view name = setting.substr(0, equals);
  const std::string_view value = setting.substr(equals + 1);
  if (name == "backend") {
    choice.backend = value;
    check_finding_backend(choice.backend, choice.device);
    return;
  }
  const bool for_all = std::find(kFieldsOfAll.begin(), kFieldsOfAll.end(), name) != kFieldsOfAll.end();
  if (!for_all && !choice.row->reads(name))
    throw invalid(fmt::format("there is no setting '{}'; choose one of: backend, {}, {}", name,
                              fmt::join(kFieldsOfAll, ", "), fmt::join(choice.row->fields, ", ")));
  if (name == "stitch") {
    choice.parameters.stitch = one_of<bool>(setting, value, {{"on", true}, {"off", false}});
  } else if (name == "top_k_policy") {
    choice.parameters.top_k_policy = one_of<TopKPolicy>(
        setting, value, {{"longest", TopKPolicy::kLongest}, {"bucket", TopKPolicy::kLongestPerBucket}});
  } else {
    for (const FinderNumber& number : finder_numbers())
      if (number.name == name) choice.parameters.*number.member = number_of(setting, value);
  }
}

void start_from_level(FinderChoice& choice, const std::string& word) {
  const std::uint32_t level = number_of("level:" + word, word);
  if (level < kMinLevel || level > kMaxLevel)
    throw invalid(out_of_range("level", level, kMinLevel, kMaxLevel));
  const AnyFinder finder = FormatTable::instance()
                               .of(CompressOptions().format)
                               .finder(static_cast<int>(level), kLevelBlockBytes, 0)
                               .value();
  const auto& chain = std::get<HashChainParameters>(finder);
  choice.row = &row_of(finder);
  choice.parameters.window_size = chain.window_bytes;
  choice.parameters.stitch = chain.stitch;
  choice.parameters.hash_bits = chain.hash_bits;
  choice.parameters.cap_bytes = chain.cap_bytes;
  choice.parameters.depth = chain.depth;
  choice.parameters.stitch_reach = chain.stitch_reach;
  choice.parameters.hash_bytes = chain.hash_bytes;
  choice.parameters.few_values_hash_bytes = chain.few_values_hash_bytes;
}

void start_from_name(FinderChoice& choice, const std::string& name) {
  for (const FinderRow& row : finder_rows())
    if (row.name == name) choice.row = &row;
  if (choice.row == nullptr)
    throw invalid(fmt::format("there is no finder '{}'; choose one of: {}, level:N", name,
                              fmt::join(finder_names(), ", ")));
  choice.parameters = choice.row->defaults();
}

FoundMatches find_on([[maybe_unused]] const std::string& backend, [[maybe_unused]] const std::string& device,
                     const FinderInput& input, const AnyFinder& finder, [[maybe_unused]] bool all) {
#ifdef HEMSTITCH_CUDA
  if (backend == kCudaBackend) return find_on_cuda(device, finder, input, all);
#endif
#ifdef HEMSTITCH_WEBGPU
  if (backend == kWebgpuBackend)
    return webgpu::find(*webgpu::open_device(wanted_device(device)), input, finder, all);
#endif
  return find_reference(finder, input);
}

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
    webgpu::open_device(wanted_device(device));
    return;
  }
#endif
  if (name != kReferenceBackend)
    throw Error(Status::kUnknownBackend,
                fmt::format("backend '{}' finds no matches; choose one of: {}", name, names));
}

std::string finding_device_name(const std::string& backend, [[maybe_unused]] const std::string& device) {
#ifdef HEMSTITCH_CUDA
  if (backend == kCudaBackend) return cuda::open_device(wanted_device(device)).facts().name;
#endif
#ifdef HEMSTITCH_WEBGPU
  if (backend == kWebgpuBackend) return webgpu::open_device(wanted_device(device))->adapter().name;
#endif
  throw Error(Status::kUnknownBackend, fmt::format("this build has no {} backend", backend));
}

bool FinderChoice::is_there() const {
#ifdef HEMSTITCH_CUDA
  if (backend == kCudaBackend) return has_kernel(row->with(parameters));
#endif
#ifdef HEMSTITCH_WEBGPU
  if (backend == kWebgpuBackend) return webgpu::has_shader(row->with(parameters));
#endif
  return true;
}

FoundMatches FinderChoice::run(const FinderInput& input, bool stitch_on, bool all) const {
  FinderParameters with_stitch = parameters;
  with_stitch.stitch = stitch_on;
  const AnyFinder finder = row->with(with_stitch);
  if (row->judged_block_bytes != 0) return run_in_blocks(input, finder, all);
  return find_on(backend, device, input, finder, all);
}

// Only for finders that use no history and return nothing but records.
FoundMatches FinderChoice::run_in_blocks(const FinderInput& input, const AnyFinder& finder, bool all) const {
  FoundMatches found;
  const std::span<const std::byte> block = input.data.subspan(input.history_bytes);
  for (std::size_t begin = 0; begin < block.size(); begin += row->judged_block_bytes) {
    const std::size_t bytes = std::min(row->judged_block_bytes, block.size() - begin);
    const MatchRecords records =
        find_on(backend, device, {block.subspan(begin, bytes), 0}, finder, all).records;
    found.records.insert(found.records.end(), records.begin(), records.end());
  }
  return found;
}

MatchRecords FinderChoice::find(const FinderInput& input) const {
  return run(input, parameters.stitch, false).records;
}

FoundMatches FinderChoice::find_with_stitch_apart(const FinderInput& input) const {
  FoundMatches found = run(input, parameters.stitch, true);
  if (!parameters.stitch || !row->reads("stitch"))
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
  checked_finder(*choice.row, choice.parameters);
  return choice;
}

std::vector<std::pair<std::string_view, std::uint32_t>> parameters_read(const FinderChoice& choice) {
  std::vector<std::pair<std::string_view, std::uint32_t>> values;
  const FinderParameters& p = choice.parameters;
  const auto add = [&](std::string_view name) {
    if (name == "top_k_policy")
      values.emplace_back("top_k_per_bucket", p.top_k_policy == TopKPolicy::kLongestPerBucket);
    else if (name == "stitch")
      values.emplace_back(name, p.stitch);
    for (const FinderNumber& number : finder_numbers())
      if (number.name == name) values.emplace_back(name, p.*number.member);
  };
  for (const std::string_view name : kFieldsOfAll) add(name);
  for (const std::string_view name : choice.row->fields) add(name);
  return values;
}

}  // namespace hemstitch
