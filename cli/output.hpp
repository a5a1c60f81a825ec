// What compressing and restoring have in common: where the output goes, and what is said when a file is done.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "arguments.hpp"
#include "each_file.hpp"
#include "files.hpp"
#include "progress.hpp"

namespace hemstitch::cli {

// True where `path`'s output goes to standard output.
bool writes_to_stdout(const Request& request, const std::string& path);

// Opens the output of `source` as the request says; `default_name` is taken without -o, and nothing means
// that the input's name gives none. `written_at_once`: as a small file (files.hpp). Refuses folders, and special files that would need a name.
std::unique_ptr<FileSink> open_output(const Request& request, const FileSource& source,
                                      const std::optional<std::string>& default_name,
                                      bool written_at_once = false);

// Refuses a folder, saying both ways to take it.
void refuse_folder(const Request& request, const FileSource& source);

// Refuses to wait for compressed data to be typed, unless -f was given.
void refuse_terminal(const Request& request, const FileSource& source);

// Lets the stream show its progress and nothing else.
StreamHooks progress_hooks(Progress& progress);

// Prints a warning, where there is one.
Outcome report_warning(const Request& request, const std::string& path,
                       const std::optional<std::string>& warning);

// What there is to warn of where bytes follow the last frame.
std::optional<std::string> garbage_warning(const std::optional<std::uint64_t>& garbage_at);

// Tells fallbacks and, with -v, figures.
void report_stream(const Request& request, const std::string& path, const StreamReport& report,
                   double seconds);

}  // namespace hemstitch::cli
