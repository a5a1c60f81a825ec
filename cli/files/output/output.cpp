#include "cli/files/output/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cli/files/output/remove_source.hpp"
#include "cli/messages.hpp"
#include "cli/status_line.hpp"
#include "cli/terminal.hpp"
#include "core/messages.hpp"
#include "format/formats.hpp"

namespace hemstitch::cli {

namespace {

// A suggested name for the archive of a folder. "." and ".." give no name.
std::string archive_name(std::string folder) {
  while (folder.ends_with('/')) folder.pop_back();
  const bool nameless = folder.empty() || folder == "." || folder == ".." || folder.ends_with("/..");
  return nameless ? "ARCHIVE" : folder;
}

}  // namespace

bool writes_to_stdout(const Request& request, const FileName& file) {
  return request.to_stdout || (file.is_standard_stream() && request.output_path.empty());
}

std::string compressed_name(const Request& request, std::string_view name) {
  return request.suffix.empty() ? compressed_name(name, request.compress.format)
                                : std::string(name).append(request.suffix);
}

std::optional<std::string> restored_name(const Request& request, std::string_view name) {
  if (request.suffix.empty()) return restored_name(name);
  if (!name.ends_with(request.suffix) || name.size() == request.suffix.size()) return std::nullopt;
  return std::string(name.substr(0, name.size() - request.suffix.size()));
}

bool has_suffix(const Request& request, std::string_view name, Format format) {
  return request.suffix.empty() ? has_suffix(name, format) : restored_name(request, name).has_value();
}

std::optional<FileName> output_of(const Request& request, const FileName& source,
                                  std::optional<std::string> name) {
  if (!name)
    name = request.action == Action::kCompress ? compressed_name(request, source.name)
                                               : restored_name(request, source.name);
  if (!name) return std::nullopt;
  return request.outputs ? request.outputs->place_of(source, std::move(*name))
                         : source.beside(std::move(*name));
}

void make_output_folder(const Request& request, const FileName& source) {
  if (request.outputs) request.outputs->make_folder_for(source);
}

void refuse_folder(const Request& request, const FileSource& source) {
  if (!source.is_directory()) return;
  const std::string name = shown_name(source.file().path());
  if (request.action == Action::kCompress)
    throw ToolError(
        fmt::format("a folder (-r makes one file of each file in it; tar -I hemstitch -cf {}.tar.lz4 {} "
                    "makes one archive)",
                    archive_name(name), name));
  throw ToolError("a folder (-r takes each file in it; tar -I hemstitch -xf ARCHIVE unpacks an archive)");
}

void refuse_compressed_name(const Request& request, const FileSource& source) {
  if (!request.compress_again && has_suffix(request, source.file().name, request.compress.format))
    throw ToolError(
        fmt::format("has the suffix {} already (-d restores it; -z or -f compresses it once more)",
                    request.suffix.empty() ? suffix_of_name(source.file().name) : request.suffix));
}

std::optional<std::string_view> compressed_already(std::span<const std::byte> first_bytes,
                                                   std::string_view name) {
  const FormatTable& formats = FormatTable::instance();
  if (const FrameFormat* const told = formats.of_data(first_bytes)) return told->title();
  const DataIdentity identity = identify_data(first_bytes);
  if (identity.kind == DataKind::kForeign) return identity.foreign_name;
  if (identity.kind == DataKind::kFrame) return "compressed";  // behind a skippable frame
  const FrameFormat* const named = format_of_name(name);
  if (named != nullptr && !named->is_told_by_content()) return named->title();
  return std::nullopt;
}

bool leaves_compressed_files(const Request& request) {
  return request.action == Action::kCompress && request.recursive && !request.force;
}

void refuse_terminal(const Request& request, const FileSource& source) {
  if (source.is_standard_input() && is_terminal(STDIN_FILENO) && !request.force)
    throw ToolError(
        "compressed data is not read from a terminal (name a file, or redirect stdin; hemstitch -h helps)");
}

std::unique_ptr<FileSink> open_output(const Request& request, const FileSource& source,
                                      const std::optional<BatchOutput>& batch,
                                      const std::optional<std::string>& name) {
  const bool restoring = request.action == Action::kRestore;
  if (writes_to_stdout(request, source.file())) {
    auto sink = FileSink::standard_output();
    if (source.is_regular() && sink->is_same_file(source.status()))
      throw ToolError("stdout is the input itself; give another output");
    if (is_terminal(STDOUT_FILENO)) give_up_status_line();
    return sink;
  }
  if (request.remove_source && !source.is_regular())
    throw ToolError("not a regular file, so --rm does not remove it (leave out --rm)");
  FileSink::Target target;
  target.overwrite = request.force;
  target.sparse = restoring && request.sparse;
  target.unnamed = batch.has_value();
  target.sync = request.remove_source && request.sync && !(batch && batch->synced_with_batch);
  if (!request.output_path.empty()) {
    target.file = FileName::from_argument(request.output_path);
  } else {
    if (!source.is_regular()) throw ToolError("not a regular file (write with -c or -o FILE)");
    std::optional<FileName> output = output_of(request, source.file(), name);
    if (!output)
      throw ToolError(
          fmt::format("no suffix {}, so no name for the output (give one with -o, or use -c)",
                      request.suffix.empty() ? FormatTable::instance().suffixes() : request.suffix));
    make_output_folder(request, source.file());
    target.file = std::move(*output);
  }
  std::unique_ptr<FileSink> sink = FileSink::create(target, source);
  if (request.remove_source && !sink->takes_a_name())
    throw ToolError(fmt::format("--rm: what is written to '{}' is not kept (leave out --rm)",
                                shown_name(target.file.path())));
  return sink;
}

std::unique_ptr<FileSink> open_index_output(const Request& request, const FileSource& source,
                                            std::string_view suffix) {
  FileSink::Target target;
  target.overwrite = request.force;
  target.sync = request.remove_source && request.sync;
  if (!request.index_path.empty()) {
    target.file = FileName::from_argument(request.index_path);
  } else {
    target.file = request.output_path.empty() ? output_of(request, source.file()).value()
                                              : FileName::from_argument(request.output_path);
    target.file.name += suffix;
  }
  return FileSink::create(target, source);
}

StreamHooks progress_hooks(Progress& progress) {
  StreamHooks hooks;
  if (progress.enabled())
    hooks.progress = [&progress](std::uint64_t input_bytes, std::uint64_t output_bytes) {
      progress.update(input_bytes, output_bytes);
    };
  return hooks;
}

namespace {
// Why `auto` chose this backend.
std::string choice_text(const StreamReport& report) {
  return report.choice_reason.empty() ? "" : fmt::format(" (auto: {})", report.choice_reason);
}
}  // namespace

std::optional<std::string> fallback_text(const StreamReport& report, std::uint64_t block_count) {
  if (report.fallback_blocks == 0)
    return report.lost_devices.empty() ? std::nullopt : std::optional(report.lost_devices);
  std::string text = fmt::format("{} of {} blocks redone by {}: {}", report.fallback_blocks, block_count,
                                 report.fallback_backend, report.fallback_reason);
  if (report.dropped) text += fmt::format("; {} failed again and was dropped", report.backend);
  if (!report.lost_devices.empty()) text += "; " + report.lost_devices;
  return text;
}

std::vector<std::string> resource_lines(const StreamReport& report) {
  std::string memory = fmt::format("memory: {} bytes planned", report.planned_bytes);
  if (report.planned_device_bytes != 0)
    memory += fmt::format(", and {} of the device's", report.planned_device_bytes);
  if (report.device_limit_bytes != 0) memory += fmt::format(" (at most {})", report.device_limit_bytes);
  return {fmt::format("time: {}", report.times.text()), memory};
}

void report_stream(const Request& request, const std::string& path, const StreamReport& report,
                   double seconds) {
  if (const auto text = fallback_text(report, report.block_count); text && !request.quiet)
    print_message(path, *text);
  if (request.verbosity > 0) {
    const bool compressing = request.action == Action::kCompress;
    const std::uint64_t content = compressing ? report.input_bytes : report.output_bytes;
    const std::uint64_t compressed = compressing ? report.output_bytes : report.input_bytes;
    const double ratio = compressed > 0 ? static_cast<double>(content) / static_cast<double>(compressed) : 0;
    // What was read for a range has no ratio to it.
    const bool whole = !request.range && !request.virtual_range;
    print_message(path,
                  fmt::format("{} -> {} bytes{}, backend {}{}, {} {}, {}", report.input_bytes,
                              report.output_bytes, whole ? fmt::format(", ratio {:.3f}", ratio) : "",
                              report.backend, choice_text(report), report.threads,
                              report.threads == 1 ? "thread" : "threads", shown_speed(content, seconds)));
  }
  if (request.verbosity > 1 && !report.times.intervals.empty())
    for (const std::string& line : resource_lines(report)) print_message(path, line);
}

void await_later_stamps(const Request& request, const FileSource& source) {
  const bool writes = request.action == Action::kCompress || request.action == Action::kRestore;
  if (writes && (request.recursive || request.remove_source) && source.is_regular())
    await_later_stamps(source.status());
}

std::optional<std::string> garbage_warning(const std::optional<std::uint64_t>& garbage_at) {
  if (!garbage_at) return std::nullopt;
  return fmt::format("byte {}: {} (ignored; the data before them is complete)", *garbage_at,
                     kNoFrameAfterLast);
}

std::optional<std::string> end_warning(bool end_missing) {
  if (!end_missing) return std::nullopt;
  return "possibly truncated: the end marker of BGZF is missing (the data before it was restored)";
}

Outcome report_warning(const Request& request, const std::string& path,
                       const std::optional<std::string>& warning) {
  if (!warning) return Outcome::kDone;
  if (!request.quiet) print_message(path, fmt::format("warning: {}", *warning));
  return Outcome::kWarned;
}

}  // namespace hemstitch::cli
