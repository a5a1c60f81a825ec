// The parses: a row for each, in the order of Parse (hemstitch/match.hpp), which offers all except the last.
// docs/how-to-add-a-parse.md explains the rest.
//
// The type of a parse's parameters identifies it everywhere else: overloads of parse_reference() take it, and
// those of cuda::parse() and webgpu::record_parse() if a device has the parse. `Costs` is what a format
// assumes its literals and matches cost, a cost model as parse/optimal/optimal.hpp describes it: a few
// numbers, or tables made for the block. A level holds an AnyParse with its format's costs.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <variant>

#include "parse/greedy/greedy.hpp"
#include "parse/lazy/lazy.hpp"
#include "parse/optimal/optimal.hpp"

namespace hemstitch {

template <typename Costs>
using AnyParse = std::variant<GreedyParse,          //
                              LazyParse,            //
                              OptimalParse<Costs>,  //
                              OptimalExactParse<Costs>>;

// The parse in this row (0 is the first), with these costs if it reads any.
template <typename Costs>
AnyParse<Costs> parse_of_row(std::size_t row, const Costs& costs) {
  const auto make = []<typename Parse>(const Costs& given) -> AnyParse<Costs> {
    Parse parse;
    if constexpr (requires { parse.costs = given; }) parse.costs = given;
    return parse;
  };
  const auto make_all = [&]<std::size_t... kRows>(std::index_sequence<kRows...>) {
    return std::array{make.template operator()<std::variant_alternative_t<kRows, AnyParse<Costs>>>(costs)...};
  };
  return make_all(std::make_index_sequence<std::variant_size_v<AnyParse<Costs>>>()).at(row);
}

}  // namespace hemstitch
