#include "match/finders.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/status.hpp"
#include "hemstitch/finder_numbers.hpp"

namespace hemstitch {
namespace {

template <typename Parameters>
constexpr std::size_t judged_block_bytes() {
  if constexpr (requires { Parameters::kJudgedBlockBytes; })
    return Parameters::kJudgedBlockBytes;
  else
    return 0;
}

template <typename Parameters>
FinderRow make_row() {
  return {Parameters::kName, Parameters::kFields, &Parameters::defaults,
          [](const FinderParameters& parameters) -> AnyFinder { return Parameters::from(parameters); },
          judged_block_bytes<Parameters>(), requires {Parameters::kCounts;
}
, requires { Parameters::kKeepsBeforeStitch; }
};  // namespace
}  // namespace hemstitch

template <typename... Parameters>
std::array<FinderRow, sizeof...(Parameters)> make_rows(const std::variant<Parameters...>*) {
  return {make_row<Parameters>()...};
}

// Callers know each finder by its position in the rows.
template <Finder kFinder, typename Parameters>
constexpr bool kFinderIsAt =
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(kFinder), AnyFinder>, Parameters>;
static_assert(kFinderIsAt<Finder::kBruteForce, BruteForceParameters> &&
              kFinderIsAt<Finder::kLazyScan, LazyScanParameters> &&
              kFinderIsAt<Finder::kCoopStitch, CoopStitchParameters> &&
              kFinderIsAt<Finder::kWindowIndex, WindowIndexParameters> &&
              kFinderIsAt<Finder::kHashChain, HashChainParameters> &&
              kFinderIsAt<Finder::kHashPairs, HashPairsParameters>);

}  // namespace

bool FinderRow::reads(std::string_view field) const {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

std::span<const FinderRow> finder_rows() {
  static const auto rows = make_rows(static_cast<const AnyFinder*>(nullptr));
  return rows;
}

const FinderRow& row_of(Finder finder) {
  const auto index = static_cast<std::size_t>(finder);
  if (index >= finder_rows().size())
    throw Error(Status::kInvalidOption,
                fmt::format("finder is {}; there is no such finder", static_cast<int>(finder)));
  return finder_rows()[index];
}

const FinderRow& row_of(const AnyFinder& finder) { return finder_rows()[finder.index()]; }

const FinderRow& row_named(std::string_view name) {
  for (const FinderRow& row : finder_rows())
    if (row.name == name) return row;
  throw Error(Status::kInvalidOption, fmt::format("there is no finder '{}'; choose one of: {}", name,
                                                  fmt::join(finder_names(), ", ")));
}

std::vector<std::string_view> finder_names() {
  std::vector<std::string_view> names;
  for (const FinderRow& row : finder_rows()) names.push_back(row.name);
  return names;
}

std::span<const FinderNumber> finder_numbers() {
  static constexpr std::array kNumbers = {
      FinderNumber{"min_match_len", &FinderParameters::min_match_len},
      FinderNumber{"max_match_len", &FinderParameters::max_match_len},
      FinderNumber{"window_size", &FinderParameters::window_size},
      FinderNumber{"stride", &FinderParameters::stride},
      FinderNumber{"near_range", &FinderParameters::near_range},
      FinderNumber{"band_origin", &FinderParameters::band_origin},
      FinderNumber{"top_k", &FinderParameters::top_k},
      FinderNumber{"good_match_len", &FinderParameters::good_match_len},
      FinderNumber{"far_step", &FinderParameters::far_step},
      FinderNumber{"literal_cost", &FinderParameters::literal_cost},
      FinderNumber{"match_fixed_cost", &FinderParameters::match_fixed_cost},
      FinderNumber{"hash_bits", &FinderParameters::hash_bits},
      FinderNumber{"cap_bytes", &FinderParameters::cap_bytes},
      FinderNumber{"depth", &FinderParameters::depth},
      FinderNumber{"stitch_reach", &FinderParameters::stitch_reach},
      FinderNumber{"hash_bytes", &FinderParameters::hash_bytes},
      FinderNumber{"few_values_hash_bytes", &FinderParameters::few_values_hash_bytes},
  };
  return kNumbers;
}

FinderParameters finder_defaults(Finder finder) { return row_of(finder).defaults(); }

AnyFinder checked_finder(const FinderRow& row, const FinderParameters& parameters) {
  check_common_parameters(parameters);
  AnyFinder finder = row.with(parameters);
  std::visit([](const auto& own) { check_parameters(own); }, finder);
  return finder;
}

void check_finder_parameters(Finder finder, const FinderParameters& parameters) {
  checked_finder(row_of(finder), parameters);
}

FoundMatches find_reference(const AnyFinder& finder, const FinderInput& input) {
  return std::visit([&](const auto& parameters) { return find_reference(input, parameters); }, finder);
}

std::optional<std::size_t> first_wrong_record(const FinderInput& input, const MatchRecords& records) {
  for (std::size_t index = 0; index < records.size(); ++index) {
    if (records[index] == 0) continue;
    const std::size_t position = input.history_bytes + index;
    const std::size_t offset = record_offset(records[index]);
    const std::size_t length = record_length(records[index]);
    if (offset == 0 || offset > position || length == 0 || length > input.data.size() - position)
      return index;
    const std::byte* text = input.data.data() + position;
    if (!std::equal(text, text + length, text - offset)) return index;
  }
  return std::nullopt;
}

}  // namespace hemstitch
