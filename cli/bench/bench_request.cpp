#include "cli/bench/bench_request.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "cli/commands.hpp"
#include "cli/options/option_values.hpp"
#include "cli/options/work_options.hpp"
#include "format/formats.hpp"

namespace hemstitch::cli {
namespace {

constexpr double kMaxSeconds = 3600;
constexpr unsigned kMostBatches = 64;

double seconds_from(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !(seconds >= 0 && seconds <= kMaxSeconds))
    throw UsageError(fmt::format("--seconds '{}': a number from 0 to {}", text, kMaxSeconds));
  return seconds;
}

unsigned batches_from(const std::string& text) {
  char* end = nullptr;
  const unsigned long count = std::strtoul(text.c_str(), &end, 10);
  if (text.empty() || end != text.c_str() + text.size() || count < 1 || count > kMostBatches)
    throw UsageError(fmt::format("--batches '{}': a number from 1 to {}", text, kMostBatches));
  return static_cast<unsigned>(count);
}

BenchSpan span_from(const std::string& name) {
  for (const BenchSpan span : {BenchSpan::kMemory, BenchSpan::kFile, BenchSpan::kPinned, BenchSpan::kKernel})
    if (span_name(span) == name) return span;
  throw UsageError(fmt::format("--span '{}': memory, file, pinned or kernel", name));
}

Format format_from(const std::string& name) {
  const FormatTable& formats = FormatTable::instance();
  const FrameFormat* const format = formats.of_name(name);
  if (format == nullptr) throw UsageError(fmt::format("--format '{}': {}", name, formats.names()));
  return format->id();
}

void add_options(OptionTable& table, BenchRequest& request, WorkOptions& work) {
  add_level_options(table, work, "-1 ... -12, --level N", "the levels (default: 1, 3, 6, 9 and 12)");
  table.value(
      "--format", "FORMAT",
      [&request](const std::string& name) {
        request.compress.format = format_from(name);
        request.restore.format = request.compress.format;
      },
      fmt::format("{} (default: lz4)", FormatTable::instance().names()));
  add_threads_option(table, [&work](unsigned threads) { work.threads = threads; });
  add_block_size_option(table, work);
  add_resource_options(table, work);
  table.value(
      "--seconds", "N", [&request](const std::string& text) { request.seconds = seconds_from(text); },
      "least time for each row (default: 1)");
  table.value(
      "--span", "SPAN", [&request](const std::string& name) { request.span = span_from(name); },
      "memory (default); file: to a new file in $TMPDIR, beside the rate at which one can be filled; on a "
      "GPU alone pinned "
      "(with the transfers), kernel");
  table.value(
      "--batch", "SIZE",
      [&request](const std::string& text) { request.batches.bytes = size_from("--batch", text); },
      "of span pinned: data of a batch (default: 128M)");
  table.value(
      "--batches", "N", [&request](const std::string& text) { request.batches.count = batches_from(text); },
      "of span pinned: batches in progress at once (default: 5)");
  table.value(
      "--repeat-to", "SIZE",
      [&request](const std::string& text) { request.repeat_to_bytes = size_from("--repeat-to", text); },
      "repeat each FILE up to SIZE");
  table.flag("--json", request.json, "as a recorded run");
  table
      .flag("--compare", request.compare,
            "compare two recorded runs of one machine: exit 1 if a row is over 5% slower or larger")
      .shown_as("--compare OLD NEW");
  table.help_flag("-h,--help");
}

}  // namespace

BenchRequest read_bench_request(std::span<const std::string> words) {
  BenchRequest request;
  WorkOptions work;
  OptionTable table;
  add_options(table, request, work);
  request.files = table.read(words);
  request.help = table.help_asked();
  if (request.help) return request;
  if (request.compare && request.files.size() != 2)
    throw UsageError("bench --compare needs two recorded runs: the older, then the newer");
  work.apply(request.compress, request.restore);
  if (request.compress.linked_blocks) throw UsageError("bench times independent blocks: leave out -BD");
  request.compress = with_defaults(request.compress);
  for (const int level : work.levels)
    request.levels.push_back(level_of_format(level, request.compress.format));
  if (request.levels.empty())
    if (const auto level = level_of_environment()) request.levels = {*level};
  return request;
}

std::string bench_options_help(const OptionTable* above) {
  BenchRequest request;
  WorkOptions work;
  OptionTable table;
  add_options(table, request, work);
  return table.help(above);
}

}  // namespace hemstitch::cli
