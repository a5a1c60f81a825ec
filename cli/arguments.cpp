#include "cli/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include "cli/command_hints.hpp"
#include "core/options.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::uint64_t kKilo = 1024;
constexpr const char* kReproducible = "reproducible";  // the registry chooses
constexpr double kMaxSeconds = 3600;

// Every word that is a command when it stands first.
constexpr std::array<std::pair<std::string_view, Action>, 6> kCommands{{
    {"cat", Action::kRestore},
    {"bench", Action::kBench},
    {"backends", Action::kBackends},
    {"evaluate", Action::kEvaluate},
    {"analyze", Action::kAnalyze},
    {"search", Action::kSearch},
}};

// What an option means when it is given without its value.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOptionalValues{{
    {"--fast", "1"},
    {"--check", "block"},
}};

// The block sizes of the LZ4 frame format and the ids that lz4's -B knows them by.
struct BlockSize {
  std::string_view id;
  std::uint64_t bytes;
};
constexpr std::array<BlockSize, 4> kBlockSizes{{
    {"4", 64 * kKilo},
    {"5", 256 * kKilo},
    {"6", kKilo* kKilo},
    {"7", 4 * kKilo* kKilo},
}};

// What else lz4's -B says: linked blocks (D), independent ones (I), block checksums (X).
constexpr std::string_view kBlockLetters = "DIX";

// What a name's suffix says about the format that -o should write.
struct Suffix {
  std::string_view suffix;
  std::string_view format;
};
constexpr std::array<Suffix, 9> kForeignSuffixes{{
    {".gz", "gzip"},
    {".tgz", "gzip"},
    {".zz", "zlib"},
    {".bgz", "BGZF"},
    {".zst", "zstd"},
    {".xz", "xz"},
    {".bz2", "bzip2"},
    {".zip", "zip"},
    {".7z", "7z"},
}};

template <typename Number>
std::optional<Number> read_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

// "4711", "64K", "2M", "1G"; K is 1024.
std::optional<std::uint64_t> read_size(std::string_view text) {
  std::uint64_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K':
      case 'k':
        unit = kKilo;
        break;
      case 'M':
      case 'm':
        unit = kKilo * kKilo;
        break;
      case 'G':
      case 'g':
        unit = kKilo * kKilo * kKilo;
        break;
      default:
        break;
    }
    if (unit != 1) text.remove_suffix(1);
  }
  const auto count = read_number<std::uint64_t>(text);
  if (!count || *count > std::numeric_limits<std::uint64_t>::max() / unit) return std::nullopt;
  return *count * unit;
}

int level_from(std::string_view origin, const std::string& text) {
  const auto level = read_number<int>(text);
  if (!level || *level < kMinLevel || *level > kMaxLevel)
    throw UsageError(
        fmt::format("{} '{}': a level is a number from {} to {}", origin, text, kMinLevel, kMaxLevel));
  return *level;
}

void check_backend_name(std::string_view origin, const std::string& name) {
  std::vector<std::string_view> names{"auto"};
  for (const auto& backend : BackendRegistry::instance().backends()) names.push_back(backend->name());
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  for (const AbsentBackend& absent : BackendRegistry::absent_backends())
    if (absent.name == name)
      throw UsageError(fmt::format("{} '{}' is not in this build: {}", origin, name, absent.remedy));
  throw UsageError(
      fmt::format("{} '{}': the backends of this build are {}", origin, name, fmt::join(names, ", ")));
}

}  // namespace

void check_device_option(std::string_view backend_name) {
  for (const auto& backend : BackendRegistry::instance().backends())
    if (backend->name() == backend_name && backend->has_devices()) return;
  throw UsageError(fmt::format("--device is of the backends cuda and webgpu, and this is {} (see --backend)",
                               backend_name));
}

namespace {

std::size_t block_bytes_from(const std::string& text) {
  for (const BlockSize& size : kBlockSizes)
    if (text == size.id || read_size(text) == size.bytes) return size.bytes;
  throw UsageError(fmt::format("-B '{}': a block has 64K, 256K, 1M or 4M (or lz4's 4, 5, 6, 7)", text));
}

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

// "-x" or "--name"; nullptr where there is none. CLI11's own search must not throw, and so ends the process where memory is short.
const CLI::Option* option_named(const CLI::App& app, std::string_view word) {
  const bool is_long = word.starts_with("--");
  const std::string_view name = word.substr(is_long ? 2 : 1);
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& names = is_long ? option->get_lnames() : option->get_snames();
    if (std::find(names.begin(), names.end(), name) != names.end()) return option;
  }
  return nullptr;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// The arguments as CLI11 gets them (each an option by its long name, with its value joined on) and the files.
struct SplitWords {
  std::vector<std::string> options;
  std::vector<std::string> files;
};

class Splitter {
 public:
  Splitter(const CLI::App& app, std::span<const std::string> words) : app_(app), words_(words) {}

  SplitWords split() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (word == "--") {
        split_.files.insert(split_.files.end(), words_.begin() + static_cast<std::ptrdiff_t>(next_),
                            words_.end());
        break;
      }
      if (word.starts_with("--"))
        split_long(word);
      else if (word.size() > 1 && word.front() == '-')
        split_bundle(word);
      else
        split_.files.push_back(word);
    }
    return std::move(split_);
  }

 private:
  void split_long(const std::string& word) {
    const auto standing_alone = std::find_if(kOptionalValues.begin(), kOptionalValues.end(),
                                             [&](const auto& entry) { return entry.first == word; });
    if (word.ends_with('='))
      throw UsageError(fmt::format("{} has an empty value", word.substr(0, word.size() - 1)));
    if (const std::size_t equals = word.find('='); equals != std::string::npos) {
      const std::string name = word.substr(0, equals);
      const CLI::Option* flag = option_named(app_, name);
      if (flag != nullptr && !takes_value(*flag)) throw UsageError(fmt::format("{} takes no value", name));
    }
    const CLI::Option* option = option_named(app_, word);
    if (option == nullptr || !takes_value(*option))
      split_.options.push_back(word);  // a flag, or already NAME=VALUE, or unknown: CLI11's to judge
    else if (standing_alone != kOptionalValues.end())
      add(word, std::string(standing_alone->second));
    else
      add(word, next_word(word));
  }

  // -dcf, -9k, -T2, -B64K, -o FILE: a digit begins a level, an option with a value takes the rest of the
  // word. -BD and its like leave the rest, as lz4's do.
  void split_bundle(const std::string& word) {
    for (std::size_t at = 1; at < word.size();) {
      if (word[at] >= '0' && word[at] <= '9') {
        const std::size_t end = std::min(word.find_first_not_of("0123456789", at), word.size());
        add("--level", word.substr(at, end - at));
        at = end;
        continue;
      }
      const std::string name = {'-', word[at++]};
      const CLI::Option* option = option_named(app_, name);
      if (option == nullptr) throw UsageError(fmt::format("no such option: {}", name));
      const std::string long_name = "--" + option->get_lnames().front();
      if (!takes_value(*option)) {
        split_.options.push_back(long_name);
      } else if (name == "-B" && at < word.size()) {
        at = split_block_properties(word, at);
      } else {
        add(long_name, at < word.size() ? word.substr(at) : next_word(name));
        break;
      }
    }
  }

  // The "4D" of -B4D, the "D" of -BDf. Returns where the rest of the bundle begins.
  std::size_t split_block_properties(const std::string& word, std::size_t at) {
    constexpr const char* kName = "--block-size";
    const auto take_letters = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) add(kName, std::string(1, word[i]));
    };
    const std::size_t value = std::min(word.find_first_not_of(kBlockLetters, at), word.size());
    take_letters(at, value);
    const bool has_size = value < word.size() && word[value] >= '0' && word[value] <= '9';
    if (!has_size && value > at) return value;
    const std::size_t letters = word.find_last_not_of(kBlockLetters) + 1;
    add(kName, word.substr(value, letters - value));
    take_letters(letters, word.size());
    return word.size();
  }

  std::string next_word(const std::string& option) {
    if (next_ == words_.size()) throw UsageError(fmt::format("{} needs a value after it", option));
    return words_[next_++];
  }

  void add(const std::string& name, const std::string& value) {
    if (value.empty()) throw UsageError(fmt::format("{} has an empty value", name));
    split_.options.push_back(name + '=' + value);
  }

  const CLI::App& app_;
  std::span<const std::string> words_;
  std::size_t next_ = 0;
  SplitWords split_;
};

}  // namespace

unsigned threads_from(std::string_view origin, const std::string& text) {
  const auto threads = read_number<unsigned>(text);
  if (!threads || *threads > kMaxThreads)
    throw UsageError(fmt::format("{} '{}': the number of threads is from 1 to {}, or 0 for one a core",
                                 origin, text, kMaxThreads));
  return *threads;
}

std::uint64_t memory_from(const std::string& text) {
  const auto bytes = read_size(text);
  if (!bytes || *bytes == 0)
    throw UsageError(
        fmt::format("--memory '{}': write a number of bytes, with K, M or G where wanted", text));
  return *bytes;
}

std::vector<std::string> read_options(CLI::App& app, std::span<const std::string> words) {
  SplitWords split = Splitter(app, words).split();
  std::reverse(split.options.begin(), split.options.end());  // CLI11 takes them from the back
  try {
    app.parse(split.options);
  } catch (const CLI::ExtrasError&) {
    const std::string unknown = app.remaining().empty() ? "" : app.remaining().front();
    throw UsageError(fmt::format("no such option: {}", unknown.substr(0, unknown.find('='))));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  return std::move(split.files);
}

namespace {

// Options that several commands have, as they were written.
struct EffortWords {
  std::vector<std::string> levels;
  std::string fast;
  bool best = false, reproducible = false;
  std::vector<std::string> blocks;  // a size, or one of kBlockLetters
  std::string threads, backend, device, memory;
  CLI::Option *level_option = nullptr, *fast_option = nullptr, *best_option = nullptr;
};

void add_effort_options(CLI::App& app, EffortWords& words) {
  // CLI11 would complain about repeated options: what stands last counts, except for bench's list of levels and
  // for -B, which says several things.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  words.level_option = app.add_option("--level", words.levels)->expected(1);
  words.level_option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  words.best_option = app.add_flag("--best", words.best);
  app.add_option("-T,--threads", words.threads);
  app.add_option("-B,--block-size", words.blocks)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--backend", words.backend);
  app.add_option("--device", words.device);
  app.add_option("--memory", words.memory);
  app.add_flag("--reproducible", words.reproducible);
}

// An environment variable that is set to something, or nothing.
std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

bool writes_reproducible_bytes(const std::string& name) {
  for (const auto& backend : BackendRegistry::instance().backends())
    if (backend->name() == name) return backend->fallback_name() == "reference";
  return false;
}

void apply_backend(const EffortWords& words, Request& request) {
  if (words.reproducible) {
    if (!words.backend.empty()) check_backend_name("--backend", words.backend);
    const bool any = words.backend.empty() || words.backend == "auto";
    if (!any && !writes_reproducible_bytes(words.backend))
      throw UsageError(
          fmt::format("--reproducible writes the bytes that every GPU writes, and --backend {} writes others",
                      words.backend));
    request.compress.backend = any ? kReproducible : words.backend;
  } else if (!words.backend.empty()) {
    check_backend_name("--backend", words.backend);
    request.compress.backend = words.backend;
    // The registry reads the variable where the request says "auto"; a flag that says so wins over it.
    if (words.backend == "auto") unsetenv("HEMSTITCH_BACKEND");
  } else if (const auto name = environment("HEMSTITCH_BACKEND")) {
    check_backend_name("HEMSTITCH_BACKEND", *name);
    request.compress.backend = *name;
  }
  request.restore.backend = request.compress.backend;
  if (words.device.empty()) return;
  check_device_option(request.compress.backend);
  request.compress.device = request.restore.device = words.device;
}

void apply_blocks(const EffortWords& words, Request& request) {
  std::optional<bool> linked;
  for (const std::string& word : words.blocks) {
    if (word == "D" || word == "I")
      linked = word == "D";
    else if (word != "X")  // which is the default
      request.compress.block_bytes = block_bytes_from(word);
  }
  if (!linked) return;
  if (request.compress.linked_blocks && !*linked) throw UsageError("--linked and -BI contradict each other");
  request.compress.linked_blocks = *linked;
}

void apply_resources(const EffortWords& words, Request& request) {
  apply_backend(words, request);
  if (!words.threads.empty())
    request.compress.threads = threads_from("-T", words.threads);
  else if (const auto threads = environment("HEMSTITCH_THREADS"))
    request.compress.threads = threads_from("HEMSTITCH_THREADS", *threads);
  request.restore.threads = request.compress.threads;

  if (!words.memory.empty()) {
    request.compress.memory_limit_bytes = request.restore.memory_limit_bytes = memory_from(words.memory);
  }
  apply_blocks(words, request);
}

// -1..-12, --level, --best and --fast set one thing: the last one given counts.
void apply_level(const CLI::App& app, const EffortWords& words, Request& request) {
  const CLI::Option* last = nullptr;
  for (const CLI::Option* option : app.parse_order())
    if (option == words.level_option || option == words.fast_option || option == words.best_option)
      last = option;

  for (const std::string& level : words.levels)
    level_from("level", level);  // a wrong one is told though it loses
  if (last == nullptr) {
    if (const auto level = environment("HEMSTITCH_LEVEL"))
      request.compress.level = level_from("HEMSTITCH_LEVEL", *level);
  } else if (last == words.best_option) {
    request.compress.level = kMaxLevel;
  } else if (last == words.fast_option) {
    const auto acceleration = read_number<int>(words.fast);
    if (!acceleration || *acceleration < 1 || *acceleration > kMaxAcceleration)
      throw UsageError(fmt::format("--fast '{}': a number from 1 to {}", words.fast, kMaxAcceleration));
    request.compress.acceleration = *acceleration;
  } else {
    request.compress.level = level_from("level", words.levels.back());
  }
}

void apply_format(const std::string& name, const std::string& output_path, Request& request) {
  const FormatTable& formats = FormatTable::instance();
  if (!name.empty()) {
    const FrameFormat* const format = formats.of_name(name);
    if (format == nullptr)
      throw UsageError(fmt::format("--format '{}': this version writes {}", name, formats.names()));
    request.compress.format = format->id();
    return;
  }
  const FrameFormat& written = formats.of(request.compress.format);
  for (const Suffix& known : kForeignSuffixes)
    if (output_path.ends_with(known.suffix))
      throw UsageError(
          fmt::format("-o '{}': this version does not write {} (--format {} writes {} under this name)",
                      output_path, known.format, written.name(), written.title()));
}

void apply_check(const std::string& check, bool no_check, const EffortWords& words, Request& request) {
  if (!check.empty() && no_check) throw UsageError("--check and --no-check contradict each other");
  if (no_check && std::find(words.blocks.begin(), words.blocks.end(), "X") != words.blocks.end())
    throw UsageError("-BX and --no-check contradict each other");
  if (!check.empty() && check != "block" && check != "content")
    throw UsageError(
        fmt::format("--check '{}': write --check (blocks) or --check=content (the content as well)", check));
  request.compress.content_checksum = check == "content";
  request.compress.block_checksums = !no_check;
  request.restore.verify_checksums = !no_check;
}

// Options before a command's name make it a file's, which is rarely there and rarely meant.
void refuse_late_commands(const Request& request) {
  for (const std::string& file : request.files)
    for (const auto& [name, action] : kCommands)
      if (struct stat status{}; file == name && lstat(file.c_str(), &status) != 0)
        throw UsageError(fmt::format("no file '{0}' is here, and the command {0} has to stand first", name));
}

// --rm removes what was written whole, to a file.
void check_removal(const Request& request, bool writes_files) {
  if (!writes_files || request.to_stdout || request.range)
    throw UsageError(
        "--rm removes a file when its replacement is complete; with -c, -t, -l and --range there is none");
  if (std::find(request.files.begin(), request.files.end(), kStandardStream) != request.files.end())
    throw UsageError("--rm removes a file, and stdin is none");
  struct stat output {};
  if (!request.output_path.empty() && stat(request.output_path.c_str(), &output) == 0 &&
      !S_ISREG(output.st_mode) && !S_ISDIR(output.st_mode))
    throw UsageError(
        fmt::format("--rm removes a file when its replacement is complete, and what is written to '{}' is "
                    "not kept",
                    request.output_path));
}

// A first word that is no file may be a command mistyped: then nothing is done, where the words behind it would
// be compressed.
void hint_at_command(const std::string& word) {
  struct stat status {};
  if (lstat(word.c_str(), &status) == 0) return;
  std::array<std::string_view, kCommands.size()> names;
  std::transform(kCommands.begin(), kCommands.end(), names.begin(),
                 [](const auto& command) { return command.first; });
  if (const auto meant = command_near(word, names))
    throw UsageError(
        fmt::format("no file '{}' is here, and no command has that name: did you mean '{}'?", word, *meant));
}

// What the parts of a request say together.
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
      throw UsageError("--output-dir takes a file for each input, and -c and -o say otherwise");
    if (std::find(request.files.begin(), request.files.end(), kStandardStream) != request.files.end())
      throw UsageError("--output-dir: what comes from stdin has no name (name it with -o)");
  }
  if (request.remove_source) check_removal(request, writes_files);
  if (request.json && request.action != Action::kList) throw UsageError("--json needs -l");
  if (request.range && request.action != Action::kRestore) throw UsageError("--range needs -d");
  if (request.range && !request.to_stdout && request.output_path.empty() &&
      std::any_of(request.files.begin(), request.files.end(),
                  [](const auto& file) { return file != kStandardStream; }))
    throw UsageError("--range writes a part of the content: say where (-c or -o FILE)");
}

// Of several ways to say what to do, list wins over test, and test over restore.
struct ActionWords {
  bool compress = false, restore = false, test = false, list = false, help = false, version = false;

  Action action() const {
    if (help) return Action::kHelp;
    if (version) return Action::kVersion;
    if (compress && (restore || test || list)) throw UsageError("-z compresses: leave out -d, -t and -l");
    if (list) return Action::kList;
    if (test) return Action::kTest;
    return restore ? Action::kRestore : Action::kCompress;
  }
};

// `cat`: the words stand behind the command of that name.
Request parse_main(std::span<const std::string> words, bool cat = false) {
  Request request;
  CLI::App app;
  app.set_help_flag();
  EffortWords effort;
  add_effort_options(app, effort);
  ActionWords what;
  bool keep = false, multiple = false, no_check = false;
  std::string format, check, range, output_dir;
  effort.fast_option = app.add_option("--fast", effort.fast);
  app.add_flag("-z,--compress", what.compress);
  app.add_flag("-d,--decompress", what.restore);
  app.add_flag("-t,--test", what.test);
  app.add_flag("-l,--list", what.list);
  app.add_flag("--json", request.json);
  app.add_flag("-m,--multiple", multiple);  // each file has an output of its own anyway
  app.add_flag("-c,--stdout", request.to_stdout);
  app.add_flag("-k,--keep", keep);
  app.add_flag("-f,--force", request.force);
  app.add_flag("-r,--recursive", request.recursive);
  app.add_flag("-q,--quiet", request.quiet);
  app.add_flag("-v,--verbose", request.verbose);
  app.add_flag("-h,--help", what.help);
  app.add_flag("-V,--version", what.version);
  app.add_flag("--rm", request.remove_source);
  app.add_flag("!--no-sync", request.sync);
  app.add_flag("--sparse,!--no-sparse", request.sparse);
  app.add_flag("--linked", request.compress.linked_blocks);
  app.add_flag("--no-check", no_check);
  app.add_option("--check", check);
  app.add_option("-o,--output", request.output_path);
  app.add_option("--output-dir", output_dir);
  app.add_option("--format", format);
  app.add_option("--range", range);
  app.add_option("-D,--dictionary", request.dictionary_path);
  request.files = read_options(app, words);

  if (cat) {
    if (what.compress || what.test || what.list)
      throw UsageError("cat restores to stdout: leave out -z, -t and -l");
    if (!request.output_path.empty()) throw UsageError("cat restores to stdout: -o goes with -d");
    what.restore = request.to_stdout = true;
  }
  request.action = what.action();
  if (what.help || what.version) return request;
  request.compress_again = what.compress || request.force;
  request.verbose = request.verbose && !request.quiet;
  if (keep && request.remove_source) throw UsageError("--rm and -k contradict each other");
  apply_resources(effort, request);
  apply_level(app, effort, request);
  apply_check(check, no_check, effort, request);
  if (request.action == Action::kCompress) apply_format(format, request.output_path, request);
  if (!range.empty()) request.range = range_from(range);
  request.restore.accept_any_dictionary_id = request.force;
  if (!output_dir.empty())
    request.outputs = std::make_shared<OutputTree>(output_dir, request.remove_source && request.sync);
  if (request.output_path == kStandardStream) {
    request.output_path.clear();
    request.to_stdout = true;
  }
  if (request.files.empty()) {
    if (request.recursive) throw UsageError("-r: name the folder ('.' is this one)");
    request.files.emplace_back(kStandardStream);
  }
  refuse_late_commands(request);
  if (!cat && !words.empty() && words.front() == request.files.front()) hint_at_command(words.front());
  check_consistency(request);
  return request;
}

BenchSpan span_from(const std::string& name) {
  if (name == "memory") return BenchSpan::kMemory;
  if (name == "file") return BenchSpan::kFile;
  if (name == "pinned") return BenchSpan::kPinned;
  if (name == "kernel") return BenchSpan::kKernel;
  throw UsageError(fmt::format("--span '{}': memory, file, pinned or kernel", name));
}

Request parse_bench(std::span<const std::string> words) {
  Request request;
  CLI::App app;
  app.set_help_flag();
  EffortWords effort;
  add_effort_options(app, effort);
  bool compare = false, help = false;
  std::string seconds, span, repeat_to;
  app.add_flag("--json", request.json);
  app.add_flag("--compare", compare);
  app.add_flag("-h,--help", help);
  app.add_option("--seconds", seconds);
  app.add_option("--span", span);
  app.add_option("--repeat-to", repeat_to);
  request.files = read_options(app, words);
  request.action = help ? Action::kHelp : compare ? Action::kCompareRuns : Action::kBench;
  if (help) return request;
  if (compare && request.files.size() != 2)
    throw UsageError("bench --compare needs two recorded runs: the older, then the newer");
  apply_resources(effort, request);
  if (request.compress.linked_blocks) throw UsageError("bench times independent blocks: leave out -BD");
  for (const std::string& level : effort.levels) request.levels.push_back(level_from("level", level));
  if (effort.best) request.levels.push_back(kMaxLevel);
  if (request.levels.empty())
    if (const auto level = environment("HEMSTITCH_LEVEL"))
      request.levels = {level_from("HEMSTITCH_LEVEL", *level)};
  if (!seconds.empty()) {
    char* end = nullptr;
    request.seconds = std::strtod(seconds.c_str(), &end);
    if (end != seconds.c_str() + seconds.size() || !(request.seconds >= 0 && request.seconds <= kMaxSeconds))
      throw UsageError(fmt::format("--seconds '{}': a number from 0 to {}", seconds, kMaxSeconds));
  }
  if (!span.empty()) request.span = span_from(span);
  if (!repeat_to.empty()) {
    const auto bytes = read_size(repeat_to);
    if (!bytes || *bytes == 0)
      throw UsageError(
          fmt::format("--repeat-to '{}': write a number of bytes, with K, M or G where wanted", repeat_to));
    request.repeat_to_bytes = *bytes;
  }
  return request;
}

Request parse_backends(std::span<const std::string> words) {
  Request request;
  CLI::App app;
  app.set_help_flag();
  bool help = false;
  int verbosity = 0;
  app.add_flag("--json", request.json);
  app.add_flag("--calibrate", request.calibrate);
  app.add_flag("-v,--verbose", verbosity);
  app.add_flag("-h,--help", help);
  const std::vector<std::string> files = read_options(app, words);
  request.very_verbose = verbosity > 1;
  if (!files.empty())
    throw UsageError(fmt::format("backends takes no files, and was given '{}'", files.front()));
  request.action = help ? Action::kHelp : Action::kBackends;
  if (const auto name = environment("HEMSTITCH_BACKEND")) check_backend_name("HEMSTITCH_BACKEND", *name);
  return request;
}

// A folder is no reason to hesitate: without -r it could only be an error.
bool is_file(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

}  // namespace

Request parse_arguments(std::span<const std::string> words) {
  for (const auto& [name, action] : kCommands) {
    if (words.empty() || words.front() != name) continue;
    if (is_file(words.front()))
      throw UsageError(
          fmt::format("'{0}' is a command, and a file of that name is here: write ./{0} for the file; "
                      "for the command, go to another folder",
                      name));
    if (action == Action::kRestore) return parse_main(words.subspan(1), true);
    if (action == Action::kBench) return parse_bench(words.subspan(1));
    if (action == Action::kBackends) return parse_backends(words.subspan(1));
    Request request;  // of the others the command itself reads the words
    request.action = action;
    return request;
  }
  return parse_main(words);
}

}  // namespace hemstitch::cli
