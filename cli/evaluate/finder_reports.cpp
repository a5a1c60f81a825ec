#include "cli/evaluate/finder_reports.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "cli/files/files.hpp"
#include "cli/messages.hpp"
#include "cli/options/option_values.hpp"
#include "format/formats.hpp"

namespace hemstitch::cli {

NamedData read_named_data(const std::string& path) {
  NamedData data{path.substr(path.rfind('/') + 1), {}};
  try {
    data.bytes = read_whole_file(path);
  } catch (const std::runtime_error& error) {
    throw ToolError(fmt::format("{}: {}", shown_name(path), error.what()));
  }
  if (data.bytes.empty()) throw ToolError(fmt::format("{}: empty, so nothing to measure", shown_name(path)));
  return data;
}

std::vector<FinderChoice> choose_finders(const std::vector<std::string>& descriptions) {
  std::vector<FinderChoice> choices;
  for (const std::string& description : descriptions) {
    try {
      choices.push_back(choose_finder(description));
    } catch (const Error& error) {
      throw ToolError(fmt::format("finder {}: {}", description, error.what()));
    }
  }
  return choices;
}

void add_judging_format_option(OptionTable& table, const FrameFormat*& format) {
  table.value(
      "--format", "FORMAT",
      [&format](const std::string& name) {
        const FormatTable& formats = FormatTable::instance();
        format = formats.of_name(name);
        if (format == nullptr) throw UsageError(fmt::format("--format '{}': {}", name, formats.names()));
        if (!format->match_limits())
          throw UsageError(fmt::format("--format '{}': {} has no matches", name, format->title()));
      },
      "use its costs and its parse (default: a literal 9 bits, a match 25)");
}

std::string devices_of(const std::vector<FinderChoice>& choices) {
  std::set<std::string> names;
  for (const FinderChoice& choice : choices)
    names.insert(choice.backend == kReferenceBackend ? processor_name()
                                                     : finding_device_name(choice.backend, choice.device));
  return fmt::format("{}", fmt::join(names, "; "));
}

Json parameters_json(const FinderChoice& choice) {
  Json json = Json::object();
  for (const auto& [name, value] : parameters_read(choice)) json[std::string(name)] = value;
  return json;
}

std::string grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

double rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

}  // namespace hemstitch::cli
