// The parses there are: a row each, in the order of Parse (hemstitch/match.hpp), which offers all but the last.
// docs/how-to-add-a-parse.md tells the rest.
//
// A parse's parameters are its name everywhere else: overloads of parse_reference() take them, and those of cuda::parse()
// and webgpu::record_parse() where a device has it. `Costs` is what a format believes that its literals and matches cost, a
// cost model as parse/optimal/optimal.hpp describes it: a few numbers, or tables made for the block. A level holds an
// AnyParse of its format's.
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

// The parse of that row, 0 the first, with these costs where it reads any.
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
