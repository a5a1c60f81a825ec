// hemstitch pages: how a store of compressed pages would compress a file, a device, or the memory of a
// process.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/messages.hpp"
#include "cli/options/option_table.hpp"
#include "cli/options/option_values.hpp"
#include "cli/options/work_options.hpp"
#include "cli/request.hpp"
#include "core/descriptor.hpp"
#include "engine/registry.hpp"
#include "pages/page_survey.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kIntroduction =
    R"(hemstitch pages [OPTION]... FILE
hemstitch pages [OPTION]... --pid NUMBER
Shows what a store of compressed pages would make of a file, a device or a
process's memory: kinds of pages, what they come to, and how fast they go in and out.

)";

// Of larger data, pieces of this size are sampled, evenly spread.
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

struct PagesRequest {
  std::string file = {}, svg_path = {}, backend = {};
  PageBatchOptions options = {};
  std::uint64_t most_bytes = std::uint64_t{256} << 20;
  std::uint64_t process = 0;
  bool json = false, help = false;
};

void add_options(OptionTable& table, PagesRequest& request) {
  table.value(
      "--pid", "NUMBER",
      [&request](const std::string& value) {
        const auto number = read_number<std::uint64_t>(value);
        if (!number || *number == 0) throw UsageError("--pid needs the number of a process");
        request.process = *number;
      },
      "the memory of a process, as far as you may read it");
  table.value(
      "--page", "SIZE",
      [&request](const std::string& value) {
        const std::uint64_t bytes = size_from("--page", value);
        request.options.page_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
      },
      "4K to 64K (default: 4K)");
  table.value(
      "--level", "N",
      [&request](const std::string& value) { request.options.level = level_from("--level", value); },
      "of compressing (default: 1)");
  add_memory_option(
      table, [&request](std::uint64_t bytes) { request.most_bytes = bytes; },
      "read at most this much, as samples from a larger file (default: 256M)");
  table.value("--backend", "NAME", request.backend,
              "measure this one beside cpu (default: those that auto may choose)");
  add_device_option(table, request.options.device);
  add_threads_option(table, [&request](unsigned threads) { request.options.threads = threads; });
  table.value("--svg", "OUTPUT", request.svg_path, "also draw sizes and speeds");
  table.flag("--json", request.json, "as JSON");
  table.help_flag("-h,--help");
}

PagesRequest read_request(std::span<const std::string> words) {
  PagesRequest request;
  OptionTable table;
  add_options(table, request);
  const std::vector<std::string> files = table.read(words);
  request.help = table.help_asked();
  if (request.help) return request;
  if (files.size() != (request.process == 0 ? 1U : 0U)) throw UsageError("pages needs one FILE, or --pid");
  if (request.process == 0) request.file = files.front();
  if (request.svg_path == kStandardStream)
    throw UsageError("--svg '-': the table goes to stdout, so the drawing needs a file");
  if (!request.backend.empty()) check_backend_name("--backend", request.backend);
  return request;
}

struct Range {
  std::uint64_t begin = 0, bytes = 0;
};

// Reads whole pages of `ranges`. If there are more than `most_bytes`, it reads evenly spread pieces. Pages
// that cannot be read are left out.
std::vector<std::byte> read_pages(int descriptor, const std::vector<Range>& ranges,
                                  const PagesRequest& request) {
  const std::uint64_t page_bytes = request.options.page_bytes;
  std::uint64_t all = 0;
  for (const Range& range : ranges) all += range.bytes;
  const std::uint64_t step = std::max<std::uint64_t>(1, (all + request.most_bytes - 1) / request.most_bytes);
  std::vector<std::byte> bytes;
  std::uint64_t piece = 0;
  for (const Range& range : ranges)
    for (std::uint64_t at = 0; at < range.bytes; at += kPieceBytes, ++piece) {
      if (piece % step != 0) continue;
      const std::uint64_t wanted = std::min(kPieceBytes, range.bytes - at) / page_bytes * page_bytes;
      const std::size_t before = bytes.size();
      bytes.resize(before + wanted);
      std::uint64_t done = 0;
      while (done < wanted) {
        const ssize_t count = pread(descriptor, bytes.data() + before + done, wanted - done,
                                    static_cast<off_t>(range.begin + at + done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += static_cast<std::uint64_t>(count);
      }
      bytes.resize(before + done / page_bytes * page_bytes);
    }
  return bytes;
}

std::vector<std::byte> pages_of_file(const PagesRequest& request) {
  // O_NONBLOCK, so that opening a pipe does not wait for its writer.
  const Descriptor file(open(request.file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat facts {};
  if (file.number() < 0 || fstat(file.number(), &facts) != 0)
    throw tool_error_from_errno(shown_name(request.file));
  if (!S_ISREG(facts.st_mode) && !S_ISBLK(facts.st_mode))
    throw ToolError(shown_name(request.file) + ": neither a file nor a block device");
  const off_t end = lseek(file.number(), 0, SEEK_END);
  if (end < 0) throw tool_error_from_errno(shown_name(request.file));
  return read_pages(file.number(), {{0, static_cast<std::uint64_t>(end)}}, request);
}

// Reads the mappings with the process's own data: those that are readable, and not the kernel's.
std::vector<std::byte> pages_of_process(const PagesRequest& request) {
  const std::string folder = fmt::format("/proc/{}/", request.process);
  std::ifstream maps(folder + "maps");
  if (!maps) throw tool_error_from_errno(fmt::format("process {}", request.process));
  std::vector<Range> ranges;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    char mode[5] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %4s", &begin, &end, mode) != 3 || mode[0] != 'r') continue;
    if (line.find("[v") != line.npos) continue;  // [vdso], [vvar], [vsyscall]
    ranges.push_back({begin, end - begin});
  }
  const Descriptor memory(open((folder + "mem").c_str(), O_RDONLY | O_CLOEXEC));
  if (memory.number() < 0)
    throw tool_error_from_errno(fmt::format("process {}: its memory may not be read", request.process));
  return read_pages(memory.number(), ranges, request);
}

std::vector<std::string> devices_to_time(const PagesRequest& request) {
  if (!request.backend.empty()) return {request.backend};
  std::vector<std::string> names;
  for (const auto& backend : BackendRegistry::instance().backends())
    if (backend->chosen_by_auto() && !backend->unavailable_reason(request.options.device) &&
        backend->facts(request.options.device).kind == BackendKind::kDevice)
      names.emplace_back(backend->name());
  return names;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_table(const PageSurvey& survey, const std::string& name) {
  const PageStoreStatistics& kept = survey.kept;
  fmt::print("{}: {} pages of {} bytes\n\n", name, kept.pages, survey.page_bytes);
  fmt::print("{:<14}{:>10}{:>8.1f}%\n", "same-filled", kept.same_filled,
             percent(kept.same_filled, kept.pages));
  fmt::print("{:<14}{:>10}{:>8.1f}%\n", "compressed", kept.compressed, percent(kept.compressed, kept.pages));
  fmt::print("{:<14}{:>10}{:>8.1f}%\n\n", "raw", kept.raw, percent(kept.raw, kept.pages));
  fmt::print("{:<14}{:>9.2f}x   with all that the store takes {:.2f}x\n", "ratio", survey.ratio(),
             survey.ratio_with_bookkeeping());
  fmt::print("{:<14}{:>8.1f} us  99% within {:.1f} us\n", "one put", survey.put.p50, survey.put.p99);
  fmt::print("{:<14}{:>8.1f} us  99% within {:.1f} us\n\n", "one get", survey.get.p50, survey.get.p99);
  fmt::print("{:<12}{:>12}{:>14}{:>14}\n", "backend", "pages a call", "put GB/s", "get GB/s");
  for (const BatchSpeed& speed : survey.speeds)
    fmt::print("{:<12}{:>12}{:>14.2f}{:>14.2f}\n", speed.backend, speed.pages, speed.put_gbps,
               speed.get_gbps);
  if (const std::uint64_t crossing = survey.crossing_pages(); crossing != 0)
    fmt::print("\nA device is faster than the processor from {} pages a call on.\n", crossing);
}

void print_json(const PageSurvey& survey, const std::string& name) {
  const PageStoreStatistics& kept = survey.kept;
  fmt::print(
      "{{\n  \"name\": \"{}\",\n  \"page_bytes\": {},\n  \"pages\": {},\n  \"same_filled\": {},\n  "
      "\"compressed\": {},\n  \"raw\": "
      "{},\n  \"kept_bytes\": {},\n  \"memory_bytes\": {},\n  \"ratio\": {:.4f},\n  "
      "\"ratio_with_bookkeeping\": {:.4f},\n",
      json_text(name), survey.page_bytes, kept.pages, kept.same_filled, kept.compressed, kept.raw,
      kept.kept_bytes, kept.memory_bytes, survey.ratio(), survey.ratio_with_bookkeeping());
  fmt::print("  \"pages_by_size\": [{}],\n", fmt::join(survey.by_size, ", "));
  fmt::print(
      "  \"put_microseconds\": {{\"p50\": {:.3f}, \"p99\": {:.3f}}},\n  \"get_microseconds\": {{\"p50\": "
      "{:.3f}, \"p99\": "
      "{:.3f}}},\n  \"speeds\": [",
      survey.put.p50, survey.put.p99, survey.get.p50, survey.get.p99);
  const char* separator = "\n";
  for (const BatchSpeed& speed : survey.speeds) {
    fmt::print("{}    {{\"backend\": \"{}\", \"pages\": {}, \"put_gbps\": {:.4f}, \"get_gbps\": {:.4f}}}",
               separator, speed.backend, speed.pages, speed.put_gbps, speed.get_gbps);
    separator = ",\n";
  }
  fmt::print("\n  ],\n  \"crossing_pages\": {},\n  \"rule_pages\": {}\n}}\n", survey.crossing_pages(),
             kPagesOfRule);
}

// The drawing is replaced each time. But it must not be the data.
void write_drawing(const PagesRequest& request, const std::string& text) {
  struct stat drawing {
  }, data{};
  if (!request.file.empty() && stat(request.svg_path.c_str(), &drawing) == 0 &&
      stat(request.file.c_str(), &data) == 0 && drawing.st_dev == data.st_dev &&
      drawing.st_ino == data.st_ino)
    throw ToolError(
        fmt::format("--svg {}: that is the input itself; give another name", shown_name(request.svg_path)));
  std::ofstream file(request.svg_path, std::ios::binary | std::ios::trunc);
  if (!file || !(file << text) || !file.flush()) throw tool_error_from_errno(shown_name(request.svg_path));
}

}  // namespace

int run_pages(std::span<const std::string> words) {
  const PagesRequest request = read_request(words);
  if (request.help) {
    fmt::print("{}{}", kIntroduction, pages_options_help(nullptr));
    return 0;
  }
  const PageBatch checked({.page_bytes = request.options.page_bytes,
                           .level = request.options.level,
                           .backend = request.backend.empty() ? "cpu" : request.backend,
                           .device = request.backend.empty() ? std::string() : request.options.device,
                           .threads = request.options.threads});
  const std::string name =
      request.process != 0 ? fmt::format("process {}", request.process) : shown_name(request.file);
  const std::vector<std::byte> pages =
      request.process != 0 ? pages_of_process(request) : pages_of_file(request);
  if (pages.empty()) throw ToolError(name + ": not one whole page could be read");
  const PageSurvey survey = survey_pages(pages, request.options, devices_to_time(request));
  if (request.json)
    print_json(survey, name);
  else
    print_table(survey, name);
  if (!request.svg_path.empty()) write_drawing(request, page_survey_svg(survey, name));
  return 0;
}

std::string pages_options_help(const OptionTable* above) {
  return help_of_options<PagesRequest>(above, add_options);
}

}  // namespace hemstitch::cli
