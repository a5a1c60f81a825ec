// What compressing and restoring share: where the output goes, and the messages when a file is done.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/files/each_file.hpp"
#include "cli/files/files.hpp"
#include "cli/progress.hpp"
#include "cli/request.hpp"

namespace hemstitch::cli {

// Whether the output of `file` goes to standard output.
bool writes_to_stdout(const Request& request, const FileName& file);

// The output of `source` that is named after it: beside it, or below --output-dir. Nothing if the name does
// not give one.
std::optional<FileName> output_of(const Request& request, const FileName& source,
                                  std::optional<std::string> name = std::nullopt);

// The name, without folders, of what is made of a file of this name when compressing, and when restoring:
// nothing if the name tells no format. And whether it has the suffix that the request's compressed files have.
std::string compressed_name(const Request& request, std::string_view name);
std::optional<std::string> restored_name(const Request& request, std::string_view name);
bool has_suffix(const Request& request, std::string_view name, Format format);

// Makes the folder of that output if it is below --output-dir. Throws ToolError.
void make_output_folder(const Request& request, const FileName& source);

// Options of an output in a batch.
struct BatchOutput {
  bool synced_with_batch = false;  // not by itself; if its source is to be removed
};

// Opens the output of `source` as the request says. An output in a batch is written at once (files.hpp).
// Refuses folders, special files that would need a name, and with --rm every output that is not kept in a
// file.
std::unique_ptr<FileSink> open_output(const Request& request, const FileSource& source,
                                      const std::optional<BatchOutput>& batch = std::nullopt,
                                      const std::optional<std::string>& name = std::nullopt);

// Opens the file of an index beside that output, which must have a name.
std::unique_ptr<FileSink> open_index_output(const Request& request, const FileSource& source,
                                            std::string_view suffix);

// Refuses a folder, and says how to compress it.
void refuse_folder(const Request& request, const FileSource& source);

// Refuses to compress a file that already has Hemstitch's suffix, unless -z or -f was given.
void refuse_compressed_name(const Request& request, const FileSource& source);

// For a file to be compressed: the name of the format that its first bytes tell, or its suffix if the format
// cannot be told by its content. Nothing if it is not compressed, as far as that is known.
std::optional<std::string_view> compressed_already(std::span<const std::byte> first_bytes,
                                                   std::string_view name);

// Whether files that are compressed already are passed over: only -r finds files that nobody named.
bool leaves_compressed_files(const Request& request);

// Refuses to read compressed data from a terminal, unless -f was given.
void refuse_terminal(const Request& request, const FileSource& source);

// Makes the stream report its progress, and nothing else.
StreamHooks progress_hooks(Progress& progress);

// For requests in which a source's times later show whether it has changed: -r skips what was done before,
// --rm removes what did not change. Waits until a change would show.
void await_later_stamps(const Request& request, const FileSource& source);

// Prints a warning, if there is one.
Outcome report_warning(const Request& request, const std::string& path,
                       const std::optional<std::string>& warning);

// Warnings if a frame has no end mark, and if other bytes follow the last frame.
std::optional<std::string> end_warning(bool end_missing);
std::optional<std::string> garbage_warning(const std::optional<std::uint64_t>& garbage_at);

// "N of M blocks redone by BACKEND: why" if there were any, and which of several devices were dropped.
std::optional<std::string> fallback_text(const StreamReport& report, std::uint64_t block_count);

// How long each stage took, which one limited the run, and the planned memory.
std::vector<std::string> resource_lines(const StreamReport& report);

// Prints fallbacks and, with -v, figures.
void report_stream(const Request& request, const std::string& path, const StreamReport& report,
                   double seconds);

}  // namespace hemstitch::cli
