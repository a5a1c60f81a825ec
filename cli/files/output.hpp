// What compressing and restoring have in common: where the output goes, and what is said when a file is done.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/files/each_file.hpp"
#include "cli/files/files.hpp"
#include "cli/progress.hpp"
#include "cli/request.hpp"

namespace hemstitch::cli {

// True where the output of `file` goes to standard output.
bool writes_to_stdout(const Request& request, const FileName& file);

// The output of `source` that is named after it: beside it, or below --output-dir. Nothing where the name gives none.
std::optional<FileName> output_of(const Request& request, const FileName& source,
                                  std::optional<std::string> name = std::nullopt);

// Makes the folder of that, where it is below --output-dir. Throws ToolError.
void make_output_folder(const Request& request, const FileName& source);

// Of an output in a batch.
struct BatchOutput {
  bool synced_with_batch = false;  // and not by itself, where its source is to be removed
};

// Opens the output of `source` as the request says. One in a batch is written at once (files.hpp). Refuses folders, special files
// that would need a name, and with --rm all that is not kept in a file.
std::unique_ptr<FileSink> open_output(const Request& request, const FileSource& source,
                                      const std::optional<BatchOutput>& batch = std::nullopt,
                                      const std::optional<std::string>& name = std::nullopt);

// Opens the file of an index beside that output, which has a name.
std::unique_ptr<FileSink> open_index_output(const Request& request, const FileSource& source,
                                            std::string_view suffix);

// Refuses a folder, saying both ways to take it.
void refuse_folder(const Request& request, const FileSource& source);

// Refuses to compress what has Hemstitch's suffix already, unless -z or -f was given.
void refuse_compressed_name(const Request& request, const FileSource& source);

// Refuses to wait for compressed data to be typed, unless -f was given.
void refuse_terminal(const Request& request, const FileSource& source);

// Lets the stream show its progress and nothing else.
StreamHooks progress_hooks(Progress& progress);

// Where what becomes of a source is told by its times later: -r passes over what was done before, --rm removes what did not
// change. Waits until they would tell.
void await_later_stamps(const Request& request, const FileSource& source);

// Prints a warning, where there is one.
Outcome report_warning(const Request& request, const std::string& path,
                       const std::optional<std::string>& warning);

// What there is to warn of where a frame lacks the mark of its end, and where bytes follow the last frame.
std::optional<std::string> end_warning(bool end_missing);
std::optional<std::string> garbage_warning(const std::optional<std::uint64_t>& garbage_at);

// "N of M blocks redone by BACKEND: why", where any were.
std::optional<std::string> fallback_text(const StreamReport& report, std::uint64_t block_count);

// How long each stage took and which one bound the run, and what memory was planned.
std::vector<std::string> resource_lines(const StreamReport& report);

// Tells fallbacks and, with -v, figures.
void report_stream(const Request& request, const std::string& path, const StreamReport& report,
                   double seconds);

}  // namespace hemstitch::cli
