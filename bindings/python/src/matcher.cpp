// Match finding alone.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>

#include "arrays.hpp"
#include "hemstitch/finder_numbers.hpp"
#include "hemstitch/match.hpp"
#include "keywords.hpp"
#include "module.hpp"
#include "python_buffers.hpp"
#include "signals.hpp"

namespace hemstitch::python {
namespace {

// The position of `name` in a list of names, which is its value in the enumeration.
template <class Enumeration>
Enumeration of_name(const std::string& name, const std::vector<std::string_view>& names, const char* field) {
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enumeration>(i);
    known += (known.empty() ? "" : ", ") + std::string(names[i]);
  }
  throw Error(Status::kInvalidOption, std::string(field) + " is '" + name + "'; it may be " + known);
}

// Besides the numbers, this knows `stitch`. It does not know top_k_policy, which is not a keyword of Matcher.
bool set(FinderParameters& parameters, const Keyword& keyword) {
  if (keyword.name() == "stitch") {
    parameters.stitch = keyword.flag();
    return true;
  }
  const std::span<const FinderNumber> numbers = finder_numbers();
  const auto number = std::ranges::find(numbers, keyword.name(), &FinderNumber::name);
  if (number == numbers.end())
    throw Error(Status::kInvalidOption, "a finder has no parameter '" + std::string(keyword.name()) + "'");
  parameters.*number->member = keyword.number<std::uint32_t>(0, std::numeric_limits<std::uint32_t>::max());
  return true;
}

struct Matcher {
  LzssMatcher matcher;
};

void make_matcher(Matcher* self, const nb::kwargs& given) {
  std::string finder_name = "coop_stitch", parse = "optimal", backend = "reference", device;
  std::optional<std::string> preset;
  read_keywords(given, [&](const Keyword& keyword) {
    const std::string_view name = keyword.name();
    if (name == "finder")
      finder_name = keyword.text();
    else if (name == "parse")
      parse = keyword.text();
    else if (name == "backend")
      backend = keyword.text();
    else if (name == "device")
      device = keyword.text();
    else if (name == "preset" && !keyword.value().is_none())
      preset = keyword.text();
    return true;
  });
  const auto finder = of_name<Finder>(finder_name, finder_names(), "finder");
  FinderParameters parameters = preset ? finder_preset(*preset) : finder_defaults(finder);
  read_keywords(given, [&](const Keyword& keyword) {
    constexpr std::string_view kNoNumbers[] = {"finder", "parse", "backend", "device", "preset"};
    return std::ranges::find(kNoNumbers, keyword.name()) != std::end(kNoNumbers) || set(parameters, keyword);
  });
  const WorkingPlace place = working_place(backend, 0);
  const auto chosen = of_name<Parse>(parse, parse_names(), "parse");
  const nb::gil_scoped_release released;
  new (self) Matcher{LzssMatcher(parameters, finder, chosen, place.backend, device,
                                 Signals::between_pieces_of_this_thread())};
}

// Passed as bytes: hemstitch.MATCH is their dtype.
static_assert(sizeof(PositionedMatch) == 16 && offsetof(PositionedMatch, offset) == 8);

nb::list find_in_blocks(const Matcher& self, nb::iterable blocks) {
  std::vector<Buffer> buffers;
  for (const nb::handle block : blocks) buffers.emplace_back(block);
  Signals signals;
  std::vector<std::vector<PositionedMatch>> found = signals.watch([&] {
    std::vector<MatchBlock> given;
    for (const Buffer& buffer : buffers) given.push_back({buffer.bytes(), 0});
    return self.matcher.find_matches(given);
  });
  nb::list results;
  for (std::vector<PositionedMatch>& matches : found)
    results.append(array_of<PositionedMatch, std::uint8_t>(std::move(matches)));
  return results;
}

nb::object find_candidates(const Matcher& self, nb::object data, std::size_t history_bytes) {
  const Buffer buffer(data);
  Signals signals;
  std::vector<std::uint32_t> found =
      signals.watch([&] { return self.matcher.find_candidates(buffer.bytes(), history_bytes); });
  return array_of(std::move(found));
}

nb::dict parameters_of(const Matcher& self) {
  nb::dict parameters;
  for (const FinderNumber& number : finder_numbers())
    parameters[nb::str(number.name.data(), number.name.size())] = self.matcher.parameters().*number.member;
  parameters["stitch"] = self.matcher.parameters().stitch;
  return parameters;
}

std::vector<std::string> strings(const std::vector<std::string_view>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

void add_matcher(nb::module_& module) {
  using namespace nb::literals;
  module.def("finder_names", [] { return strings(finder_names()); });
  module.def("parse_names", [] { return strings(parse_names()); });
  module.def("finder_preset_names", [] { return strings(finder_preset_names()); });
  nb::class_<Matcher>(module, "Matcher")
      .def("__init__", make_matcher, "options"_a)
      .def("find_in_blocks", find_in_blocks, "blocks"_a)
      .def("find_candidates", find_candidates, "data"_a, "history_bytes"_a = 0)
      .def_prop_ro("parameters", parameters_of);
}

}  // namespace hemstitch::python
