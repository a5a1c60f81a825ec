// From argv to a plain Request. The words are split here first, CLI11 then reads options alone: so a bundle
// may end in a level (-9k, -d12), a file may have any name, and a command word counts only where it stands
// first.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/files/output_tree.hpp"
#include "hemstitch/hemstitch.hpp"

namespace CLI {
class App;
}

namespace hemstitch::cli {

enum class Action {
  kCompress,
  kRestore,
  kTest,
  kList,
  kBench,
  kCompareRuns,
  kBackends,
  kEvaluate,
  kAnalyze,
  kSearch,
  kHelp,
  kVersion,
};

// What bench times: from where to where the data goes.
enum class BenchSpan {
  kMemory,  // through the library, from memory to memory
  kFile,    // from file to file
  kPinned,  // on a device, with the transfers
  kKernel,  // on a device, without them
};

// Half-open, in bytes of the content; an end past the content's means that one.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::uint64_t> last;  // instead: so many bytes before the content's end
};

inline constexpr const char* kStandardStream = "-";

struct Request {
  Action action = Action::kCompress;
  std::vector<std::string> files;  // "-" for standard input; never empty for compress, restore, test and list

  bool to_stdout = false;
  std::string output_path;              // empty: named after the input
  std::shared_ptr<OutputTree> outputs;  // nothing: each beside its source
  bool force = false;
  bool compress_again = false;  // files that have Hemstitch's suffix already
  bool recursive = false;
  bool remove_source = false;
  bool sync = true;  // outputs to the disk, before their sources are removed
  bool sparse = true;
  bool quiet = false;
  bool verbose = false;
  bool very_verbose = false;  // -vv, of backends

  CompressOptions compress;
  RestoreOptions restore;
  std::string dictionary_path;  // empty: none
  std::optional<ByteRange> range;

  bool json = false;  // of list, bench and backends

  bool calibrate = false;  // of backends: measure first

  // bench
  std::vector<int> levels;
  double seconds = 1.0;  // for each row
  BenchSpan span = BenchSpan::kMemory;
  std::uint64_t repeat_to_bytes = 0;  // each file over and over, up to so many; 0: once
};

// A mistake in the arguments or in an environment variable.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `words` is argv without the program's name. Reads HEMSTITCH_BACKEND, HEMSTITCH_LEVEL and HEMSTITCH_THREADS
// where no option says otherwise. Throws UsageError.
Request parse_arguments(std::span<const std::string> words);

// Whether --device may stand beside that backend, and the values of -T and --memory, for commands that read their words themselves. Throw UsageError.
void check_device_option(std::string_view backend_name);
unsigned threads_from(std::string_view origin, const std::string& text);
std::uint64_t memory_from(const std::string& text);

// Splits `words`, lets `app` read its options among them, and returns the others, the files. Throws UsageError.
std::vector<std::string> read_options(CLI::App& app, std::span<const std::string> words);

}  // namespace hemstitch::cli
