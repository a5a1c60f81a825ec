#include "cli/compress/read_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/command_hints.hpp"
#include "cli/files/files.hpp"
#include "cli/files/suffixes.hpp"
#include "cli/messages.hpp"
#include "cli/options/option_table.hpp"
#include "cli/options/option_values.hpp"
#include "cli/options/work_options.hpp"
#include "core/messages.hpp"
#include "core/options.hpp"
#include "format/formats.hpp"

namespace hemstitch::cli {
namespace {

// A suffix that -o refuses, since it tells another tool's format.
struct ForeignSuffix {
  std::string_view suffix;
  std::string_view format;
};
constexpr std::array<ForeignSuffix, 4> kForeignSuffixes{{
    {".xz", "xz"},
    {".bz2", "bzip2"},
    {".zip", "zip"},
    {".7z", "7z"},
}};

constexpr std::string_view kAnyFormat = "any";  // a value of --format

ByteRange range_from(const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto bad = [&](std::string_view why) {
    return UsageError(fmt::format("--range '{}': {}", text, why));
  };
  if (dash == std::string::npos || text.size() == 1)
    throw bad(
        "write A-B, from byte A up to but not including byte B; A- goes to the end, -N is the last N bytes");
  const auto read = [&](std::string_view number) {
    const auto bytes = read_size(number);
    if (!bytes) throw bad("write numbers of bytes, with K, M or G where wanted");
    return *bytes;
  };
  const std::string_view before = std::string_view(text).substr(0, dash);
  const std::string_view behind = std::string_view(text).substr(dash + 1);
  ByteRange range;
  if (before.empty()) {
    range.last = read(behind);
    return range;
  }
  range.begin = read(before);
  if (!behind.empty()) range.end = read(behind);
  if (range.begin > range.end) throw bad("the end lies before the beginning");
  return range;
}

VirtualRange virtual_range_from(const std::string& text) {
  const auto read = [&](std::string_view number) {
    const auto offset = read_number<std::uint64_t>(number);
    if (!offset)
      throw UsageError(fmt::format(
          "--virtual '{}': write V-W, virtual offsets of BGZF from which and up to which; V alone "
          "goes to the end",
          text));
    return *offset;
  };
  const std::size_t dash = text.find('-');
  VirtualRange range{read(std::string_view(text).substr(0, dash)), std::nullopt};
  if (dash != std::string::npos) range.end = read(std::string_view(text).substr(dash + 1));
  if (range.end && *range.end < range.begin)
    throw UsageError(fmt::format("--virtual '{}': the end lies before the beginning", text));
  return range;
}

int acceleration_from(const std::string& text) {
  const auto acceleration = read_number<int>(text);
  if (!acceleration || *acceleration < 1 || *acceleration > kMaxAcceleration)
    throw UsageError(fmt::format("--fast '{}': a number from 1 to {}", text, kMaxAcceleration));
  return *acceleration;
}

int window_log_from(const std::string& text) {
  const auto window_log = read_number<int>(text);
  if (!window_log || *window_log < kLeastFrameWindowLog || *window_log > kMostFrameWindowLog)
    throw UsageError(fmt::format("--long '{}': a window of 2^N bytes, N from {} to {}", text,
                                 kLeastFrameWindowLog, kMostFrameWindowLog));
  return *window_log;
}

std::string check_from(const std::string& what) {
  if (what != "block" && what != "content")
    throw UsageError(
        fmt::format("--check '{}': write --check (blocks) or --check=content (the content as well)", what));
  return what;
}

std::string suffix_from(const std::string& suffix) {
  if (suffix.find('/') != std::string::npos)
    throw UsageError(fmt::format("-S '{}': a suffix has no folder", suffix));
  return suffix.front() == '.' ? suffix : '.' + suffix;
}

// The files that a list names, one a line, or one before each zero byte if it has any, as of find -print0.
std::vector<std::string> files_of_list(const std::string& path) {
  std::vector<std::byte> bytes;
  try {
    bytes = read_whole_file(path);
  } catch (const ToolError& error) {
    throw ToolError(fmt::format("--files-from {}: {}", shown_name(path), error.what()));
  }
  std::string_view list(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const char end = list.find('\0') != std::string_view::npos ? '\0' : '\n';
  std::vector<std::string> files;
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(end));
    list.remove_prefix(std::min(name.size() + 1, list.size()));
    // "-" would be stdin, which has its own way.
    if (!name.empty()) files.push_back(name == kStandardStream ? "./-" : std::string(name));
  }
  return files;
}

// Options as they were given, unless the request itself has them.
struct Given {
  Request& request;
  WorkOptions work = {};
  int acceleration = 0;  // from --fast; a level before it does not count
  bool compress = false, restore = false, test = false, list = false, version = false;
  bool keep = false, multiple = false, no_check = false;
  std::string check = {}, format = {}, output_dir = {};
  std::vector<std::string> lists = {};  // of files

  // If several actions are given, list wins over test, and test over restore.
  Action action() const {
    if (compress && (restore || test || list)) throw UsageError("-z compresses: leave out -d, -t and -l");
    if (list && !work.levels.empty())
      throw UsageError("-l lists, and takes no level (lz4's -l is --legacy here)");
    if (list) return Action::kList;
    if (test) return Action::kTest;
    return restore ? Action::kRestore : Action::kCompress;
  }
};

void add_action_options(OptionTable& table, Given& given) {
  table.flag("-z,--compress", given.compress, "compress, also a FILE that is compressed already")
      .begins("What to do (default: compress)");
  table.flag("-d,--decompress", given.restore, "restore");
  table.flag("--uncompress", given.restore, "");  // gzip's other word
  table.flag("-t,--test", given.test, "restore without writing; check everything");
  table.flag("-l,--list", given.list, "show sizes, ratio and checks; with -v, each frame");
  table.flag("--json", given.request.json, "with -l: as JSON, an object for each file");
  table.help_flag("-h,--help").explained_as("the most used options, or all of them");
  table.flag("-V,--version", given.version, "the version");
}

void add_effort_options(OptionTable& table, Given& given) {
  WorkOptions& work = given.work;
  add_level_options(
      table, work, "-1 ... -12, --level N",
      "faster ... smaller, zstd up to -22 (default: 1 for lz4, 3 for zstd, 6 for other formats); -0 stores")
      .begins("How hard to work");
  table
      .value(
          "--fast", "N",
          [&given](const std::string& text) {
            given.acceleration = acceleration_from(text);
            given.work.levels.clear();
          },
          "lz4, zstd: faster and larger than -1; N from 1, zstd's up to 7 (default: 1)")
      .means_alone("1");
  add_threads_option(table, [&work](unsigned threads) { work.threads = threads; });
  add_block_size_option(table, work);
  table.flag("--linked", work.linked_blocks,
             "let blocks refer to those before them: smaller, but restored one after the other (default: "
             "independent); lz4's -BD, -BI and -BX work too");
  table
      .value(
          "--seekable", "SIZE",
          [&given](const std::string& text) {
            given.request.compress.seekable_bytes = size_from("--seekable", text);
          },
          "zstd: a frame for each SIZE of content, 64K to 64M, and the seek table, by which --range begins "
          "in "
          "the middle (default: one frame; --seekable alone: 4M)")
      .means_alone("4M");
  table
      .value(
          "--long", "N",
          [&given](const std::string& text) {
            given.request.compress.window_log = given.request.restore.window_log = window_log_from(text);
          },
          "zstd: a window of 2^N bytes, 10 to 31, and a search for long matches in it; with -d: allow such a "
          "window "
          "(--long alone: 27)")
      .means_alone("27");
  table.flag("--rsyncable", given.request.compress.rsyncable,
             "gzip, zstd, zlib: cut the content where its bytes say so, so that a change in it changes few "
             "of the bytes "
             "written, for rsync and backups; some percent larger");
  table.flag("--legacy", given.request.compress.legacy,
             "lz4: the old frame of lz4 -l, for boot loaders and Linux: blocks of 8M, no checksums");
  add_resource_options(table, work);
}

void add_output_options(OptionTable& table, Given& given) {
  Request& request = given.request;
  table.value("-o,--output", "FILE", request.output_path, "the output's name; '-' is stdout")
      .begins("What to write");
  table.value("--output-dir", "DIR", given.output_dir,
              "write to DIR instead; with -r, in the same folders below it");
  table.flag("-c,--stdout", request.to_stdout, "write to stdout");
  table.flag("--to-stdout", request.to_stdout, "");  // gzip's other word
  table.value(
      "-S,--suffix", "SUFFIX",
      [&request](const std::string& suffix) { request.suffix = suffix_from(suffix); },
      "the suffix of compressed files, instead of the format's");
  table.flag(
      "-f,--force", request.force,
      "overwrite files, write compressed data to a terminal, compress a FILE that is compressed "
      "already, use a dictionary with another id; with -dc, write data in an unknown format unchanged");
  table.flag("-k,--keep", given.keep, "keep the source (default)");
  table.flag(
      "--rm", request.remove_source,
      "remove the source when its output is complete and on the disk, unless it changed since it was read");
  table.flag(
      "--no-sync", [&request] { request.sync = false; }, "with --rm: do not wait for the disk");
  table.flag("-r,--recursive", request.recursive,
             "process the files in folders, each on its own; compressed ones stay as they are");
  table.value(
      "--files-from", "LIST", [&given](const std::string& path) { given.lists.push_back(path); },
      "also the FILEs whose names are the lines of LIST ('-' is stdin), or end with zero bytes there");
  add_name_options(table, request.name_rules);
  table.flag(
      "-N,--name", request.with_name,
      "store name and time in the header of gzip; with -d, use those in the header (default: -n, neither, so "
      "that the same content gives the same bytes)");
  table.flag(
      "-n,--no-name", [&request] { request.with_name = false; }, "");
  table.flag("-m,--multiple", given.multiple, "accepted as in lz4; each FILE always has its own output");
  table.value("--format", "FORMAT", given.format,
              fmt::format("the format to write: {} (default: by the suffix of -o, or lz4), or to restore if "
                          "the data does not show it. With -dr, which files: those of this format (default: "
                          "lz4), or any",
                          FormatTable::instance().names()));
  table.flag("--index", request.write_index,
             "write an index beside the compressed file, when compressing and with -d or -t: of bgzf "
             "FILE.gz.gzi, as bgzip does, of gzip FILE.gz.gzidx, of zstd (with -d or -t) FILE.zst.zstidx");
  table.value(
      "--index-name", "NAME",
      [&request](const std::string& name) {
        request.index_path = name;
        request.write_index = true;
      },
      "write that index, and call it NAME");
}

void add_content_options(OptionTable& table, Given& given) {
  Request& request = given.request;
  table
      .value(
          "--check", "content", [&given](const std::string& what) { given.check = check_from(what); },
          "checksum each block; with =content, the whole content as well (default: --check)")
      .means_alone("block");
  table.flag("--no-check", given.no_check, "write no checksums; with -d, verify none");
  table
      .flag(
          "--sparse", [&request] { request.sparse = true; },
          "leave holes for zeros when restoring to a file (default: --sparse)")
      .shown_as("--[no-]sparse");
  table.flag(
      "--no-sparse", [&request] { request.sparse = false; }, "");
  table.value(
      "--range", "A-B", [&request](const std::string& text) { request.range = range_from(text); },
      "with -d: bytes A up to B of the content; A- is up to its end, -N its last N bytes");
  table.value(
      "--virtual", "V-W",
      [&request](const std::string& text) { request.virtual_range = virtual_range_from(text); },
      "with -d, of BGZF: from virtual offset V up to W, or to the end");
  table.flag(
      "--verify", request.compress.verify,
      "restore each block on the backend that made it and compare it before it is written; another backend "
      "redoes one that fails");
  table.value("-D,--dictionary", "FILE", request.dictionary_path,
              "history for every block, for zstd also what a trainer made; restoring needs it again");
}

void add_message_options(OptionTable& table, Given& given) {
  table
      .flag("-q,--quiet", given.request.quiet,
            "errors only: no warnings, summaries or progress, even with -v")
      .begins("What to say");
  table.flag(
      "-v,--verbose", [&given] { ++given.request.verbosity; },
      "backend, threads, ratio and speed of each file; twice: what limited the speed, and the memory that "
      "was "
      "planned");
}

// What other tools call what has another name here, or is not here.
void add_words_of_others(OptionTable& table) {
  table.refuse("-a", "gzip's --ascii changes nothing on this system; leave it out");
  table.refuse("--ascii", "changes nothing on this system; leave it out");
  table.refuse("-b", "'hemstitch bench' measures (-B is the size of blocks)");
  table.refuse("-L", "gzip's license; 'hemstitch -V' shows the version");
  table.refuse("--license", "'hemstitch -V' shows the version");
  table.refuse("-p", "pigz's processes are threads here: -T N");
  table.refuse("--processes", "write -T N");
  table.refuse("--single-thread", "write -T 1");
  table.refuse("--time", "-N stores the name and the time, -n neither, which is the default");
  table.refuse("--no-time", "-n stores neither name nor time, which is the default");
  table.refuse("--zlib", "write --format zlib");
  table.refuse("--zip", "zip files are not written");
  table.refuse("--favor-decSpeed", "there is no such choice here; leave it out");
  table.refuse("--content-size", "the header has the size wherever it is known; leave it out");
  table.refuse("--no-frame-crc", "the content has a checksum with --check=content alone; leave it out");
  table.refuse("--no-crc", "write --no-check");
  table.refuse("--ultra", "levels up to 22 need no such word; leave it out");
  table.refuse("--adapt", "levels do not change on the way");
  table.refuse("--filelist", "write --files-from FILE");
  table.refuse("--exclude-compressed", "is what -r does; leave it out");
  table.refuse("--train", "write 'hemstitch train FILE... -o DICT'");
  table.refuse("--patch-from", "write -D FILE, here and where it is restored");
  table.refuse("--no-progress", "write -q");
}

void add_options(OptionTable& table, Given& given) {
  add_words_of_others(table);
  add_action_options(table, given);
  add_effort_options(table, given);
  add_output_options(table, given);
  add_content_options(table, given);
  add_message_options(table, given);
}

// -1..-22, --level, --best and --fast set the same thing: the last one given counts. --fast=N is an acceleration,
// or a level below 1.
void apply_level(const Given& given, CompressOptions& compress) {
  const FrameFormat& format = FormatTable::instance().of(compress.format);
  if (!given.work.levels.empty() && given.work.levels.back() == kStoredLevel)
    compress.stored = true;
  else if (!given.work.levels.empty())
    compress.level = level_of_format(given.work.levels.back(), compress.format);
  else if (given.acceleration > 0 && format.choices().acceleration)
    compress.acceleration = given.acceleration;
  else if (given.acceleration > 0 && format.levels().least < 0)
    compress.level = level_of_format(-given.acceleration, compress.format);
  else
    compress.level =
        level_of_format(level_of_environment().value_or(compress.level), compress.format, "HEMSTITCH_LEVEL");
}

void apply_format(const std::string& name, const std::string& output_path, Request& request) {
  const FormatTable& formats = FormatTable::instance();
  if (name == kAnyFormat) {
    if (request.action == Action::kCompress)
      throw UsageError("--format any: for -d, -t and -l; name the format to write");
    request.any_format = true;
    return;
  }
  if (!name.empty()) {
    const FrameFormat* const format = formats.of_name(name);
    if (format == nullptr)
      throw UsageError(fmt::format("--format '{}': this version knows {}", name, formats.names()));
    request.compress.format = format->id();
    request.restore.format = format->id();
    return;
  }
  if (request.action != Action::kCompress) return;
  const FrameFormat& written = formats.of(request.compress.format);
  if (const FrameFormat* const format = format_of_name(output_path)) {
    request.compress.format = format->id();
    return;
  }
  for (const ForeignSuffix& known : kForeignSuffixes)
    if (output_path.ends_with(known.suffix))
      throw UsageError(
          fmt::format("-o '{}': this version does not write {} (--format {} writes {} under this name)",
                      output_path, known.format, written.name(), written.title()));
}

void apply_check(const Given& given, Request& request) {
  if (!given.check.empty() && given.no_check)
    throw UsageError("--check and --no-check contradict each other");
  if (given.no_check && given.work.checks_letter)
    throw UsageError("-BX and --no-check contradict each other");
  request.compress.content_checksum = given.check == "content";
  request.compress.block_checksums = !given.no_check;
  request.restore.verify_checksums = !given.no_check;
}

// "lz4 has", "lz4 and zlib have": names the formats with this choice.
std::string who_has(bool FormatChoices::*choice) {
  std::vector<std::string_view> names;
  for (const FormatRow& row : FormatTable::instance().all())
    if (row.format->choices().*choice) names.push_back(row.format->name());
  return fmt::format("{} {}", listed(names, "and"), names.size() == 1 ? "has" : "have");
}

// Refuses what contradicts -0, --rsyncable and --legacy: each is one way of the processor's.
void refuse_with_fixed_ways(const Given& given) {
  const CompressOptions& options = given.request.compress;
  const std::string_view option = options.stored      ? "-0"
                                  : options.rsyncable ? "--rsyncable"
                                  : options.legacy    ? "--legacy"
                                                      : "";
  if (option.empty()) return;
  const auto refuse = [&](bool asked, std::string_view other) {
    if (asked) throw UsageError(fmt::format("{} and {} contradict each other", option, other));
  };
  refuse(given.work.reproducible, "--reproducible");
  refuse(!given.work.backend.empty() && given.work.backend != "auto" && given.work.backend != "cpu",
         fmt::format("--backend {}", given.work.backend));
  refuse(options.rsyncable && options.stored, "--rsyncable");
  refuse(options.legacy && (options.stored || options.rsyncable), "--legacy");
  refuse(options.window_log != 0 && !options.legacy, "--long");
  if (options.stored) return;
  const bool has_blocks = given.work.block_bytes && options.legacy;
  refuse(has_blocks || options.seekable_bytes != 0, has_blocks ? "-B" : "--seekable");
  refuse(options.linked_blocks, "--linked");
  refuse(!given.check.empty() || given.work.checks_letter, "--check");
  refuse(!given.request.dictionary_path.empty(), "-D");
  refuse(options.rsyncable && options.verify, "--verify");
}

// Refuses options that the format does not have.
void refuse_lacking(const Given& given) {
  const Request& request = given.request;
  const FrameFormat& format = FormatTable::instance().of(request.compress.format);
  const auto refuse = [&](bool asked, bool FormatChoices::*choice, std::string_view option,
                          std::string_view lack) {
    if (asked && !(format.choices().*choice))
      throw UsageError(fmt::format("{}: {} {} ({})", option, format.title(), lack, who_has(choice)));
  };
  const WorkOptions& work = given.work;
  if (work.block_bytes && format.block_sizes().size() == 1 && *work.block_bytes != format.block_sizes()[0])
    throw UsageError(fmt::format("-B: {} has only one block size (leave out -B)", format.title()));
  refuse(request.compress.linked_blocks, &FormatChoices::linked_blocks, "--linked", "has no such blocks");
  const std::size_t seekable_bytes = request.compress.seekable_bytes;
  refuse(seekable_bytes != 0, &FormatChoices::seekable, "--seekable", "has no seekable files");
  if (seekable_bytes != 0 && (seekable_bytes < kLeastSeekableBytes || seekable_bytes > kMostSeekableBytes))
    throw UsageError("--seekable: a frame has 64K to 64M of content");
  if (seekable_bytes != 0 && work.block_bytes)
    throw UsageError("-B and --seekable contradict each other: the frames are the blocks");
  const bool is_long = request.compress.window_log != 0;
  refuse(is_long, &FormatChoices::seekable, "--long", "has no windows to choose");
  if (is_long && seekable_bytes == 0 && request.compress.verify)
    throw UsageError(
        "--verify: with --long nothing is restored while it is written (test the output with -t)");
  refuse(!given.check.empty() || work.checks_letter, &FormatChoices::checksums, "--check",
         "always has the same checksums");
  refuse(given.no_check, &FormatChoices::checksums, "--no-check", "always has the same checksums");
  if (format.levels().least > 0)
    refuse(given.acceleration > 0, &FormatChoices::acceleration, "--fast", "has no levels below 1");
  refuse(!request.dictionary_path.empty(), &FormatChoices::dictionary, "-D", "has no dictionaries");
  refuse_with_fixed_ways(given);
  refuse(request.compress.rsyncable, &FormatChoices::rsyncable, "--rsyncable", "has blocks at fixed places");
  refuse(request.compress.legacy, &FormatChoices::legacy_frames, "--legacy", "has no such frames");
  refuse(request.with_name, &FormatChoices::stored_name, "-N", "stores no names");
  if (request.write_index && format.id() != Format::kGzip && format.make_side_index() == nullptr)
    throw UsageError(fmt::format("--index: {} has no index to write (gzip and bgzf have)", format.title()));
}

// Refuses a format without a suffix, unless the request names the output.
void refuse_nameless(const Request& request) {
  if (!FormatTable::instance().of(request.compress.format).suffix().empty() || request.to_stdout ||
      !request.output_path.empty())
    return;
  if (request.recursive || request.outputs ||
      std::any_of(request.files.begin(), request.files.end(),
                  [](const auto& file) { return file != kStandardStream; }))
    throw UsageError(
        fmt::format("--format {}: files of it have no suffix, so no name (say where with -c or -o FILE)",
                    FormatTable::instance().of(request.compress.format).name()));
}

bool reads_stdin(const Request& request) {
  return std::find(request.files.begin(), request.files.end(), kStandardStream) != request.files.end();
}

// --rm removes a source only after its whole content was written to a file.
void check_removal(const Request& request, bool writes_files) {
  if (!writes_files || request.to_stdout || request.range || request.virtual_range)
    throw UsageError(
        "--rm removes a file when its replacement is complete; with -c, -t, -l and --range there is none");
  if (reads_stdin(request)) throw UsageError("--rm removes files, and stdin is not a file");
  struct stat output {};
  if (!request.output_path.empty() && stat(request.output_path.c_str(), &output) == 0 &&
      !S_ISREG(output.st_mode) && !S_ISDIR(output.st_mode))
    throw UsageError(
        fmt::format("--rm removes a file when its replacement is complete, and what is written to '{}' is "
                    "not kept",
                    request.output_path));
}

// An index is written beside a compressed file, and covers all of it.
void check_index(const Request& request) {
  if (request.action == Action::kList) throw UsageError("--index: nothing is restored with -l");
  if (!request.index_path.empty() && (request.recursive || request.files.size() > 1))
    throw UsageError("--index-name names one index, and there are several files");
  if (request.action == Action::kCompress) {
    if (request.index_path.empty() &&
        (request.to_stdout || (request.output_path.empty() && reads_stdin(request))))
      throw UsageError(
          "--index is written beside the output, and stdout has no folder (write with -o FILE, or name the "
          "index with --index-name)");
    return;
  }
  if (reads_stdin(request)) throw UsageError("--index is written beside the input, and stdin has no folder");
  if (request.range || request.virtual_range)
    throw UsageError("--index covers the whole content: leave out --range");
  if (request.remove_source) throw UsageError("--index needs the file to stay: leave out --rm");
}

// Checks options that depend on each other.
void check_consistency(const Request& request) {
  const bool writes_files = request.action == Action::kCompress || request.action == Action::kRestore;
  if (!request.output_path.empty()) {
    if (!writes_files) throw UsageError("-o: nothing is written with -t or -l");
    if (request.to_stdout) throw UsageError("-c and -o contradict each other");
    if (request.files.size() > 1) throw UsageError("-o names one output, and there are several inputs");
    if (request.recursive) throw UsageError("-o names one output, and -r makes one for each file");
  }
  if (request.outputs) {
    if (!writes_files) throw UsageError("--output-dir: nothing is written with -t or -l");
    if (request.to_stdout || !request.output_path.empty())
      throw UsageError("--output-dir writes a file for each input, so -c and -o contradict it");
    if (reads_stdin(request))
      throw UsageError("--output-dir: what comes from stdin has no name (name it with -o)");
  }
  if (request.action == Action::kCompress) refuse_nameless(request);
  if (request.write_index) check_index(request);
  if (request.remove_source) check_removal(request, writes_files);
  if (request.json && request.action != Action::kList) throw UsageError("--json needs -l");
  if (request.range && request.action != Action::kRestore) throw UsageError("--range needs -d");
  if (request.virtual_range && request.action != Action::kRestore) throw UsageError("--virtual needs -d");
  if (request.virtual_range && request.range) throw UsageError("--virtual and --range contradict each other");
  if ((request.range || request.virtual_range) && !request.to_stdout && request.output_path.empty() &&
      std::any_of(request.files.begin(), request.files.end(),
                  [](const auto& file) { return file != kStandardStream; }))
    throw UsageError(fmt::format("{} writes a part of the content: say where (-c or -o FILE)",
                                 request.range ? "--range" : "--virtual"));
}

void take_as(const RestoringName& as, Given& given) {
  Request& request = given.request;
  if (given.compress)
    throw UsageError(fmt::format("{} restores: leave out -z (hemstitch compresses)", as.name));
  given.restore = true;
  if (as.to_stdout) {
    if (given.test || given.list)
      throw UsageError(fmt::format("{} restores to stdout: leave out -t and -l", as.name));
    if (!request.output_path.empty() || !given.output_dir.empty() || (request.write_index && !as.may_index))
      throw UsageError(fmt::format("{} restores to stdout: {} go with -d", as.name,
                                   as.may_index ? "-o and --output-dir" : "-o, --output-dir and --index"));
    request.to_stdout = true;
  }
  if (request.recursive && given.format.empty()) given.format = as.format;
  const bool writes_files = !given.test && !given.list && !request.to_stdout && !request.write_index &&
                            !request.range && !request.virtual_range && !reads_stdin(request) &&
                            !request.files.empty() && request.output_path.empty();
  if (as.removes && !given.keep && writes_files) request.remove_source = true;
}

void apply(const Given& given, Request& request) {
  if (given.keep && request.remove_source) throw UsageError("--rm and -k contradict each other");
  request.compress_again = given.compress || request.force;
  if (request.quiet) request.verbosity = 0;
  given.work.apply(request.compress, request.restore);
  apply_check(given, request);
  apply_format(given.format, request.output_path, request);
  if (request.action == Action::kCompress) apply_level(given, request.compress);
  if (request.action == Action::kCompress) refuse_lacking(given);
  const CompressOptions& ways = request.compress;
  if (ways.stored || ways.rsyncable || ways.legacy) request.compress.backend = "auto";  // the processor
  request.compress = with_defaults(request.compress);
  request.restore.accept_any_dictionary_id = request.force;
  if (!given.output_dir.empty())
    request.outputs = std::make_shared<OutputTree>(given.output_dir, request.remove_source && request.sync);
  if (request.output_path == kStandardStream) {
    request.output_path.clear();
    request.to_stdout = true;
  }
}

}  // namespace

Request read_request(std::span<const std::string> words, const RestoringName* as) {
  Request request;
  Given given{request};
  OptionTable table;
  add_options(table, given);
  request.files = table.read(words);
  if (table.help_asked() || given.version) {
    const bool whole = std::ranges::find(words, "--help") != words.end();
    request.action = !table.help_asked() ? Action::kVersion
                     : as != nullptr     ? Action::kCommandHelp
                     : whole             ? Action::kHelp
                                         : Action::kShortHelp;
    return request;
  }
  for (const std::string& list : given.lists)
    for (std::string& file : files_of_list(list)) request.files.push_back(std::move(file));
  if (!given.lists.empty() && request.files.empty()) throw UsageError("--files-from: the list has no file");
  if (as != nullptr) take_as(*as, given);
  request.action = given.action();
  apply(given, request);
  if (request.files.empty()) {
    if (request.recursive) throw UsageError("-r: name the folder ('.' is this one)");
    request.files.emplace_back(kStandardStream);
  }
  if (as != nullptr) {
    check_consistency(request);
    return request;
  }
  refuse_late_commands(request.files);
  if (!words.empty() && words.front() == request.files.front()) hint_at_command(words.front());
  if (request.output_path.empty() && given.lists.empty()) hint_at_output(request.files, request.action);
  check_consistency(request);
  return request;
}

void with_request_options(const std::function<void(const OptionTable& table)>& use) {
  Request request;
  Given given{request};
  OptionTable table;
  add_options(table, given);
  use(table);
}

}  // namespace hemstitch::cli
