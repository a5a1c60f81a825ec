// hemstitch evaluate: rates finders on files by the five criteria of founding document 000
// (docs/founding.md).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <tuple>

#include "cli/commands.hpp"
#include "cli/evaluate/finder_reports.hpp"
#include "cli/messages.hpp"
#include "cli/options/option_values.hpp"
#include "cli/options/work_options.hpp"
#include "evaluate/evaluation.hpp"
#include "match/coop_stitch/coop_stitch.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kIntroduction =
    R"(hemstitch evaluate [OPTION]... FILE...
Judges match finders: every match verified, cost under the best parse beside the
optimum of a 4K and a 64K window, probes, latency, and what the stitch adds.
Slow: give it a few megabytes, and fewer where one byte repeats.

)";

constexpr fmt::string_view kDescriptions =
    R"(
DESCRIPTION is NAME[:PRESET][:FIELD=VALUE]..., with
  names                 {} or level:N
  presets               of coop_stitch: 4k, 16k, 32k, 32k-gaps, near-1k
  fields                min_match_len, max_match_len, window_size,
                        stride, near_range, band_origin, top_k, top_k_policy
                        (longest, bucket), stitch (on, off), good_match_len,
                        far_step, literal_cost, match_fixed_cost, hash_bits,
                        cap_bytes, depth, stitch_reach, hash_bytes,
                        few_values_hash_bytes (each of the finders that read
                        it), and backend (reference, cuda, webgpu)
)";

constexpr int kNamesIndent = 24;
constexpr std::size_t kNamesWidth = 54;

// The windows of the optima, and their names in reports. The second window has all offsets that a record can
// hold.
constexpr std::uint32_t kNearWindow = 4096;
constexpr std::uint32_t kFarWindow = 65535;

constexpr const char* kAllFinders[] = {
    "coop_stitch:4k",
    "coop_stitch:4k:top_k=8",
    "coop_stitch:4k:top_k=16",
    "coop_stitch:4k:top_k_policy=bucket",
    "coop_stitch:16k",
    "coop_stitch:32k",
    "coop_stitch:32k-gaps",
    "coop_stitch:near-1k",
    "coop_stitch:near-1k:min_match_len=5",
    "lazy_scan",
    "window_index",
    "brute_force:window_size=4288",
    "brute_force:window_size=33792",
    "hash_chain:depth=1",
    "hash_chain:depth=4",
    "hash_chain:depth=8",
    "hash_chain:depth=16",
    "hash_pairs",
    "level:1",
};

std::uint32_t far_window(const FrameFormat* format) {
  return format == nullptr ? kFarWindow : std::min(kFarWindow, format->match_limits().value().max_offset);
}

std::string far_name(const FrameFormat* format) {
  return fmt::format("{}K", (far_window(format) + 1) / 1024);
}

struct Optima {
  Optimum near;
  Optimum far;
};

// The optima depend on the lengths and prices of a finder. Most finders share them.
class OptimaOfFile {
 public:
  OptimaOfFile(std::span<const std::byte> data, const FrameFormat* format) : data_(data), format_(format) {}

  const Optima& of(const FinderParameters& p) {
    const auto key = std::make_tuple(p.min_match_len, p.max_match_len, p.literal_cost, p.match_fixed_cost);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    return known_
        .emplace(key, Optima{optimum(data_, kNearWindow, p, format_),
                             optimum(data_, far_window(format_), p, format_)})
        .first->second;
  }

 private:
  std::span<const std::byte> data_;
  const FrameFormat* format_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, Optima> known_;
};

std::string percent_above(double value, double base) {
  return base > 0 ? fmt::format("{:+.1f}%", 100 * (value / base - 1)) : "-";
}

class EvaluationReport {
 public:
  EvaluationReport(bool json, bool table, const FrameFormat* format, const std::string& devices,
                   const std::string& command_line)
      : json_(json), table_(table), format_(format), run_(begin_recorded_run(devices, command_line)) {}

  void begin_file(const NamedData& data) {
    if (json_) {
      run_["files"].push_back(describe_data(data.name, data.bytes));
    } else if (table_) {
      fmt::print("{}, {} bytes\n{:>7} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9}  {}\n", shown_name(data.name),
                 grouped(data.bytes.size()), "cost", "all len", "vs 4K", "vs " + far_name(format_),
                 "no stitch", "probes", "compares", "warm ms", "finder");
    }
  }

  void add(const NamedData& data, const FinderChoice& choice, const Evaluation& evaluation,
           const Optima& optima) {
    if (json_)
      add_row(data, choice, evaluation, optima);
    else if (table_)
      print_line(data, choice, evaluation, optima);
    else
      print_criteria(data, choice, evaluation, optima);
    std::fflush(stdout);
  }

  void finish() const {
    if (json_) fmt::print("{}\n", run_.dump(2, ' ', false, Json::error_handler_t::replace));
  }

 private:
  static Json cost_json(const ParseFigures& figures) {
    Json json{{"cost", rounded(figures.cost)}};
    if (figures.cost_all_lengths) json["cost_all_lengths"] = rounded(*figures.cost_all_lengths);
    return json;
  }

  static Json figures_json(const ParseFigures& figures) {
    Json json = cost_json(figures);
    json["literals"] = figures.literal_count;
    json["matches"] = figures.match_count;
    json["matched_bytes"] = figures.matched_bytes;
    return json;
  }

  void add_row(const NamedData& data, const FinderChoice& choice, const Evaluation& e, const Optima& optima) {
    Json row{{"what", "find+parse"},
             {"backend", choice.backend},
             {"finder", choice.name},
             {"parameters", parameters_json(choice)},
             {"file", data.name},
             {"bytes", data.bytes.size()},
             {"block_bytes", data.bytes.size()}};
    row.update(figures_json(e.figures));
    row["optimum_4k"] = cost_json(optima.near.figures);
    if (format_ != nullptr) row["format"] = format_->name();
    row[format_ == nullptr || far_window(format_) == kFarWindow ? "optimum_64k" : "optimum_32k"] =
        cost_json(optima.far.figures);
    if (e.without_stitch) row["without_stitch"] = figures_json(*e.without_stitch);
    if (e.counters) {
      const auto a_byte = [&](std::uint64_t count) {
        return rounded(static_cast<double>(count) / static_cast<double>(data.bytes.size()));
      };
      row["a_byte"] = Json{{"probes", a_byte(e.counters->probes)},
                           {"stitch_probes", a_byte(e.counters->stitch_probes)},
                           {"repeated_probes", a_byte(e.counters->repeated_probes)},
                           {"lookups", a_byte(e.counters->lookups)},
                           {"byte_comparisons", a_byte(e.counters->byte_comparisons)}};
    }
    row["latency_bytes"] = e.latency_bytes;
    row["first_call_ms"] = rounded(e.first_call_seconds * 1e3);
    row["warm_ms"] = rounded(e.warm_seconds * 1e3);
    row["gbps"] = rounded(static_cast<double>(e.latency_bytes) / e.warm_seconds / 1e9);
    row["span"] = "memory";
    row["verified"] = e.verified;
    run_["rows"].push_back(row);
  }

  static std::string counted(std::uint64_t count, const NamedData& data) {
    return count == 0
               ? "-"
               : fmt::format("{:.1f}", static_cast<double>(count) / static_cast<double>(data.bytes.size()));
  }

  // The cost with all lengths, if it was computed.
  static std::string all_lengths_text(const ParseFigures& figures) {
    return figures.cost_all_lengths ? fmt::format("{:.4f}", *figures.cost_all_lengths) : "-";
  }

  static void print_line(const NamedData& data, const FinderChoice& choice, const Evaluation& e,
                         const Optima& optima) {
    const FindCounters counters = e.counters.value_or(FindCounters{});
    fmt::print("{:>7.4f} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9.1f}  {}\n", e.figures.cost,
               all_lengths_text(e.figures), percent_above(e.figures.cost, optima.near.figures.cost),
               percent_above(e.figures.cost, optima.far.figures.cost),
               e.without_stitch ? fmt::format("{:.4f}", e.without_stitch->cost) : "-",
               counted(counters.probes + counters.lookups, data), counted(counters.byte_comparisons, data),
               e.warm_seconds * 1e3, choice.name);
  }

  void print_criteria(const NamedData& data, const FinderChoice& choice, const Evaluation& e,
                      const Optima& optima) const {
    const auto bytes = static_cast<double>(data.bytes.size());
    const ParseFigures& figures = e.figures;
    fmt::print("{}, {} bytes: {}\n", shown_name(data.name), grouped(data.bytes.size()), choice.name);
    if (choice.row == &row_of(Finder::kCoopStitch))
      fmt::print("{}", coop_stitch_plan(choice.parameters).text());
    fmt::print("verified    every match of {} positions\n", grouped(data.bytes.size()));
    fmt::print("cost        {:.4f} of the raw bits ({} literals, {} matches of {:.1f} bytes on average)\n",
               figures.cost, grouped(figures.literal_count), grouped(figures.match_count),
               figures.match_count == 0
                   ? 0.0
                   : static_cast<double>(figures.matched_bytes) / static_cast<double>(figures.match_count));
    if (format_ != nullptr)
      fmt::print("            as blocks of {}, by its own parse\n", format_->title());
    else
      fmt::print("            {} with matches of all lengths\n", all_lengths_text(figures));
    for (const auto& [name, best] :
         {std::pair{std::string("4K"), optima.near}, std::pair{far_name(format_), optima.far}})
      fmt::print(
          "optimum {:<3} {:.4f}{}: this finder is {} above\n", name, best.figures.cost,
          format_ != nullptr ? "" : fmt::format(", {} with all lengths", all_lengths_text(best.figures)),
          percent_above(figures.cost, best.figures.cost));
    if (e.counters) {
      const FindCounters& c = *e.counters;
      fmt::print("search      {} probes a byte", counted(c.probes, data));
      if (c.stitch_probes != 0)
        fmt::print(", {} of them others' finds, {} tried before", counted(c.stitch_probes, data),
                   counted(c.repeated_probes, data));
      if (c.lookups != 0) fmt::print(", {} look-ups", counted(c.lookups, data));
      if (c.byte_comparisons != 0) fmt::print("; {} byte comparisons", counted(c.byte_comparisons, data));
      fmt::print("\n");
    }
    fmt::print("latency     {:.1f} ms at first, {:.1f} ms warm, to find and parse {} bytes\n",
               e.first_call_seconds * 1e3, e.warm_seconds * 1e3, grouped(e.latency_bytes));
    if (e.without_stitch) {
      const ParseFigures& off = *e.without_stitch;
      fmt::print(
          "stitch      cost {:.4f} without it, {:.4f} with it ({}); matched bytes {:.1f}% and {:.1f}% ({})\n",
          off.cost, figures.cost, percent_above(figures.cost, off.cost),
          100 * static_cast<double>(off.matched_bytes) / bytes,
          100 * static_cast<double>(figures.matched_bytes) / bytes,
          percent_above(static_cast<double>(figures.matched_bytes), static_cast<double>(off.matched_bytes)));
    }
    fmt::print("\n");
  }

  bool json_;
  bool table_;
  const FrameFormat* format_;
  Json run_;
};

struct EvaluateRequest {
  std::vector<std::string> files = {};
  std::vector<std::string> finders = {};
  std::string backend = {}, device = {};
  const FrameFormat* format = nullptr;
  bool all = false, json = false, help = false;
};

void add_options(OptionTable& table, EvaluateRequest& request) {
  table.value(
      "--finder", "DESCRIPTION", [&request](const std::string& finder) { request.finders.push_back(finder); },
      "the finder; several of them make a table (default: coop_stitch)");
  table.flag("--all", request.all, "every finder and preset");
  add_judging_format_option(table, request.format);
  table.value("--backend", "NAME", request.backend, "the backend of all finders (default: reference)");
  add_device_option(table, request.device);
  table.flag("--json", request.json, "as a recorded run");
  table.help_flag("-h,--help");
}

EvaluateRequest read_request(std::span<const std::string> words) {
  EvaluateRequest request;
  OptionTable table;
  add_options(table, request);
  request.files = table.read(words);
  request.help = table.help_asked();
  if (request.help) return request;
  if (request.files.empty()) throw UsageError("evaluate needs a FILE");
  if (request.all && !request.finders.empty()) throw UsageError("--all and --finder contradict each other");
  if (!request.device.empty())
    check_device_option(request.backend.empty() ? kReferenceBackend : request.backend);
  if (!request.backend.empty()) check_finding_backend(request.backend, request.device);
  return request;
}

void print_evaluate_help() {
  std::string names;
  for (const std::string_view name : finder_names()) {
    const std::size_t line_begin = names.rfind('\n') + 1;  // 0 if there is one line
    if (names.size() - line_begin + name.size() > kNamesWidth)
      names += fmt::format(",\n{:{}}", "", kNamesIndent);
    else if (!names.empty())
      names += ", ";
    names += name;
  }
  fmt::print("{}{}", kIntroduction, evaluate_options_help(nullptr));
  fmt::print(kDescriptions, names);
}

std::vector<FinderChoice> chosen_finders(const EvaluateRequest& request) {
  std::vector<std::string> finders = request.finders;
  if (request.all)
    finders.assign(std::begin(kAllFinders), std::end(kAllFinders));
  else if (finders.empty())
    finders = {"coop_stitch"};
  std::vector<FinderChoice> choices = choose_finders(finders);
  if (!request.backend.empty())
    for (FinderChoice& choice : choices) {
      choice.backend = request.backend;
      choice.device = request.device;
    }
  if (request.all) std::erase_if(choices, [](const FinderChoice& choice) { return !choice.is_there(); });
  return choices;
}

}  // namespace

int run_evaluate(std::span<const std::string> words) {
  const EvaluateRequest request = read_request(words);
  if (request.help) {
    print_evaluate_help();
    return 0;
  }
  const std::vector<FinderChoice> choices = chosen_finders(request);

  std::string command_line = "hemstitch evaluate";
  for (const std::string& word : words) command_line += ' ' + word;
  EvaluationReport report(request.json, choices.size() > 1, request.format, devices_of(choices),
                          command_line);
  for (const std::string& path : request.files) {
    const NamedData data = read_named_data(path);
    report.begin_file(data);
    OptimaOfFile optima(data.bytes, request.format);
    for (const FinderChoice& choice : choices) {
      const Evaluation evaluation = evaluate(data.bytes, choice, request.format);
      if (!evaluation.verified)
        throw ToolError(fmt::format("{}: {} gives a wrong match at position {}", shown_name(path),
                                    choice.name, *evaluation.first_wrong_position));
      report.add(data, choice, evaluation, optima.of(choice.parameters));
    }
  }
  report.finish();
  return 0;
}

std::string evaluate_options_help(const OptionTable* above) {
  return help_of_options<EvaluateRequest>(above, add_options);
}

}  // namespace hemstitch::cli
