// hemstitch bench --compare OLD NEW: compares two recorded runs of one machine, row by row.
#include "cli/bench/compare.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <map>

#include "cli/bench/recorded_run.hpp"
#include "cli/files/files.hpp"
#include "cli/messages.hpp"

namespace hemstitch::cli {
namespace {

// Only a row that is slower or larger by more than this counts, since runs on a shared machine vary by a few
// percent.
constexpr double kTolerance = 1.05;

// The fields that say what a row measures. If all of them are equal, the rows of two runs are compared.
constexpr std::array kIdentifyingFields{"what", "backend", "format", "level", "block_bytes",
                                        "file", "items",   "bytes",  "span",  "peer"};

Json read_run(const std::string& path) {
  try {
    const std::vector<std::byte> bytes = read_whole_file(path);
    const char* text = reinterpret_cast<const char*>(bytes.data());
    Json run = Json::parse(text, text + bytes.size());
    if (run.at("schema") != 1) throw ToolError("another schema than 1");
    if (!run.at("rows").is_array() || !run.at("device").is_string()) throw ToolError("no rows, or no device");
    return run;
  } catch (const std::exception& error) {
    throw ToolError(fmt::format("{}: not a recorded run: {}", shown_name(path), error.what()));
  }
}

std::string identity_of(const Json& row) {
  std::string identity;
  for (const char* field : kIdentifyingFields)
    if (row.contains(field))
      identity += fmt::format("{}{} {}", identity.empty() ? "" : ", ", field,
                              row[field].is_string() ? row[field].get<std::string>() : row[field].dump());
  return identity;
}

// Prints what became worse, and returns whether anything did.
bool is_worse(const std::string& identity, const Json& old_row, const Json& new_row) {
  bool worse = false;
  const auto check = [&](const char* field, const char* what) {
    if (!old_row.contains(field) || !new_row.contains(field)) return;
    const double before = old_row[field].get<double>(), after = new_row[field].get<double>();
    if (before <= after * kTolerance) return;
    fmt::print("{:.1f}% {}: {} {:.4g} before, {:.4g} now\n", (before / after - 1) * 100, what, field, before,
               after);
    worse = true;
  };
  check("gbps", "slower");
  check("ratio", "larger");
  if (worse) fmt::print("  {}\n", identity);
  return worse;
}

}  // namespace

int compare_runs(const std::string& old_path, const std::string& new_path) {
  const Json old_run = read_run(old_path), new_run = read_run(new_path);
  const auto old_device = old_run["device"].get<std::string>(),
             new_device = new_run["device"].get<std::string>();
  if (old_device != new_device) {
    fmt::print("runs of different machines ('{}', '{}'): not compared\n", old_device, new_device);
    return 0;
  }
  std::map<std::string, Json> old_rows;
  for (const Json& row : old_run["rows"]) old_rows[identity_of(row)] = row;

  std::size_t compared_count = 0, worse_count = 0;
  for (const Json& row : new_run["rows"]) {
    const auto old_row = old_rows.find(identity_of(row));
    if (old_row == old_rows.end()) continue;
    ++compared_count;
    if (is_worse(old_row->first, old_row->second, row)) ++worse_count;
  }
  if (compared_count == 0) throw ToolError("the two runs have no row in common, so nothing was compared");
  fmt::print("{} rows compared, {} over 5% slower or larger; {} only in {}, {} only in {}\n", compared_count,
             worse_count, old_rows.size() - compared_count, old_path, new_run["rows"].size() - compared_count,
             new_path);
  return worse_count > 0 ? 1 : 0;
}

}  // namespace hemstitch::cli
