#include "api/matching_stages.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "core/status.hpp"
#include "match/finders.hpp"
#include "parse/choose_matches.hpp"

namespace hemstitch {
namespace {

// The interface numbers the parses as the rows do.
template <Parse kParse, typename Row>
constexpr bool kParseIsAt = std::is_same_v<
    std::variant_alternative_t<static_cast<std::size_t>(kParse), AnyParse<FullLengthCostModel>>, Row>;
static_assert(kParseIsAt<Parse::kGreedy, GreedyParse> && kParseIsAt<Parse::kLazy, LazyParse> &&
              kParseIsAt<Parse::kOptimal, OptimalParse<FullLengthCostModel>>);

}  // namespace

std::vector<std::string_view> parse_names() {
  return {GreedyParse::kName, LazyParse::kName, OptimalParse<FullLengthCostModel>::kName};
}

MatchingStages stages_of(Finder finder, Parse parse, const FinderParameters& parameters) {
  const auto row = static_cast<std::size_t>(parse);
  if (row >= parse_names().size())
    throw Error(Status::kInvalidOption,
                fmt::format("parse is {}; there is no such parse", static_cast<int>(parse)));
  return {checked_finder(row_of(finder), parameters), parse_of_row(row, costs_of(parameters)),
          plan_of(parameters)};
}

}  // namespace hemstitch
