// hemstitch analyze: where the matches of a file point, how long they are, and how those of one finder
// compare with another's.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>

#include "cli/commands.hpp"
#include "cli/evaluate/finder_reports.hpp"
#include "cli/messages.hpp"
#include "cli/options/option_table.hpp"
#include "cli/options/option_values.hpp"
#include "cli/request.hpp"
#include "evaluate/analysis.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kIntroduction =
    R"(hemstitch analyze [OPTION]... FILE
Shows the matches that the best parse of a file takes: by distance and by length,
for one finder against another. 'hemstitch evaluate -h' says how they are described.

)";

using Analyses = std::array<MatchAnalysis, 2>;

Json share_json(const MatchShare& share) {
  return {{"matches", share.match_count}, {"matched_bytes", share.matched_bytes}};
}

Json analysis_json(const MatchAnalysis& analysis, const FinderChoice& choice) {
  Json json{{"finder", analysis.finder},
            {"parameters", parameters_json(choice)},
            {"cost", rounded(analysis.cost)},
            {"literals", analysis.literal_count}};
  json.update(share_json(analysis.all));
  for (std::size_t i = 0; i < analysis.by_distance.size(); ++i)
    json["by_distance"][kDistanceClassNames[i]] = share_json(analysis.by_distance[i]);
  for (std::size_t i = 0; i < analysis.by_length.size(); ++i)
    json["by_length"][kLengthClassNames[i]] = share_json(analysis.by_length[i]);
  return json;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// Prints a line for each class, with the figures of each finder: matches, the share of the file that they
// cover, and the sum of these shares so far.
template <typename Shares>
void print_classes(const char* title, const Shares& names, const Analyses& analyses, std::uint64_t file_bytes,
                   auto member) {
  fmt::print("\n{:<10}", title);
  for (std::size_t i = 0; i < analyses.size(); ++i)
    fmt::print("{:>12} {:>10} {:>10}", "matches", "of bytes", "in sum");
  fmt::print("\n");
  std::array<std::uint64_t, 2> sums{};
  for (std::size_t row = 0; row < names.size(); ++row) {
    fmt::print("{:<10}", names[row]);
    for (std::size_t i = 0; i < analyses.size(); ++i) {
      const MatchShare& share = (analyses[i].*member)[row];
      sums[i] += share.matched_bytes;
      fmt::print("{:>12} {:>9.1f}% {:>9.1f}%", grouped(share.match_count),
                 percent(share.matched_bytes, file_bytes), percent(sums[i], file_bytes));
    }
    fmt::print("\n");
  }
}

void print_table(const NamedData& data, const Analyses& analyses, const FinderComparison& comparison) {
  const std::uint64_t bytes = data.bytes.size();
  fmt::print("{}, {} bytes\nfirst     {}\nsecond    {}\n\n{:<10}{:>34}{:>34}", shown_name(data.name),
             grouped(bytes), analyses[0].finder, analyses[1].finder, "", "first", "second");
  const auto line = [&](const char* title, auto value) {
    fmt::print("\n{:<10}", title);
    for (const MatchAnalysis& analysis : analyses) fmt::print("{:>34}", value(analysis));
  };
  line("cost", [](const auto& a) { return fmt::format("{:.4f}", a.cost); });
  line("literals", [&](const auto& a) { return fmt::format("{:.1f}%", percent(a.literal_count, bytes)); });
  line("mean match", [](const auto& a) {
    return fmt::format("{:.1f} bytes", a.all.match_count == 0 ? 0.0
                                                              : static_cast<double>(a.all.matched_bytes) /
                                                                    static_cast<double>(a.all.match_count));
  });
  fmt::print("\n");
  print_classes("distance", kDistanceClassNames, analyses, bytes, &MatchAnalysis::by_distance);
  print_classes("length", kLengthClassNames, analyses, bytes, &MatchAnalysis::by_length);
  fmt::print(
      "\nPosition by position, the first finds a longer match at {:.1f}%, an equal one (or none) at {:.1f}%, "
      "and a "
      "shorter\none at {:.1f}%.\n",
      percent(comparison.longer, bytes), percent(comparison.equal, bytes),
      percent(comparison.shorter, bytes));
}

// The drawing is replaced each time, so an older one may have the name. But it must not be the data.
void refuse_input(const std::string& path, const std::string& input) {
  struct stat drawing {
  }, data{};
  if (stat(path.c_str(), &drawing) == 0 && stat(input.c_str(), &data) == 0 && drawing.st_dev == data.st_dev &&
      drawing.st_ino == data.st_ino)
    throw ToolError(fmt::format("--svg {}: that is the input itself; give another name", shown_name(path)));
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file || !(file << text) || !file.flush()) throw tool_error_from_errno(shown_name(path));
}

struct AnalyzeRequest {
  std::string file = {};
  std::string first = "brute_force:window_size=65535", second = "coop_stitch:near-1k:min_match_len=5";
  std::string svg_path = {};
  const FrameFormat* format = nullptr;
  bool json = false, help = false;
};

void add_options(OptionTable& table, AnalyzeRequest& request) {
  table.value("--finder", "DESCRIPTION", request.first, fmt::format("which (default: {})", request.first));
  table.value("--against", "DESCRIPTION", request.second,
              fmt::format("the one to compare with (default: {})", request.second));
  add_judging_format_option(table, request.format);
  table.value("--svg", "OUTPUT", request.svg_path,
              "also draw a map of where the first finder's matches point");
  table.flag("--json", request.json, "as JSON");
  table.help_flag("-h,--help");
}

AnalyzeRequest read_request(std::span<const std::string> words) {
  AnalyzeRequest request;
  OptionTable table;
  add_options(table, request);
  const std::vector<std::string> files = table.read(words);
  request.help = table.help_asked();
  if (request.help) return request;
  if (files.size() != 1) throw UsageError("analyze needs one FILE");
  request.file = files.front();
  if (request.svg_path == kStandardStream)
    throw UsageError("--svg '-': the table goes to stdout, so the drawing needs a file");
  return request;
}

}  // namespace

int run_analyze(std::span<const std::string> words) {
  const AnalyzeRequest request = read_request(words);
  if (request.help) {
    fmt::print("{}{}", kIntroduction, analyze_options_help(nullptr));
    return 0;
  }
  if (!request.svg_path.empty()) refuse_input(request.svg_path, request.file);
  const std::vector<FinderChoice> choices = choose_finders({request.first, request.second});
  const NamedData data = read_named_data(request.file);

  Analyses analyses;
  std::array<MatchRecords, 2> records;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    records[i] = choices[i].find({data.bytes, 0});
    analyses[i] = analyze(data.bytes, choices[i], records[i], request.format);
  }
  const FinderComparison comparison = compare_candidates(records[0], records[1], choices[0].parameters);
  if (request.json) {
    Json report{{"file", describe_data(data.name, data.bytes)},
                {"finders", {analysis_json(analyses[0], choices[0]), analysis_json(analyses[1], choices[1])}},
                {"positions",
                 {{"first_longer", comparison.longer},
                  {"equal", comparison.equal},
                  {"first_shorter", comparison.shorter}}}};
    fmt::print("{}\n", report.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print_table(data, analyses, comparison);
  }
  if (!request.svg_path.empty())
    write_text(request.svg_path, match_map_svg(analyses[0], data.name, data.bytes.size()));
  return 0;
}

std::string analyze_options_help(const OptionTable* above) {
  return help_of_options<AnalyzeRequest>(above, add_options);
}

}  // namespace hemstitch::cli
