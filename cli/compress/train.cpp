// hemstitch train FILE... -o DICT: makes a dictionary for -D with --format zstd.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/files/each_file.hpp"
#include "cli/files/files.hpp"
#include "cli/files/output/output.hpp"
#include "cli/messages.hpp"
#include "cli/options/option_table.hpp"
#include "cli/options/work_options.hpp"
#include "cli/request.hpp"
#include "files/save/new_file.hpp"
#include "format/formats.hpp"
#include "format/zstd_train.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kTrainIntroduction =
    R"(hemstitch train [OPTION]... FILE... -o DICT
Makes a dictionary of what many short FILEs have in common. With it, files like them get
smaller: hemstitch --format zstd -D DICT, and zstd -D DICT.

)";

// As in the zstd tool.
constexpr std::size_t kUsualDictionaryBytes = std::size_t{110} << 10;
constexpr std::size_t kMostTrainedBytes = std::size_t{8} << 20;
// So much of the beginning of a file is a sample: what comes later does not profit from a dictionary.
constexpr std::size_t kMostSampleBytes = std::size_t{128} << 10;
constexpr std::uint64_t kUsualSamplesBytes = std::uint64_t{64} << 20;

struct TrainRequest {
  Request files;
  std::uint64_t dictionary_bytes = kUsualDictionaryBytes;
  std::uint64_t samples_bytes = kUsualSamplesBytes;
  std::uint32_t id = 0;
};

// Samples one after the other. If they would take more than a limit, every second one is left out, again and again: what
// remains is spread evenly over all.
class Samples {
 public:
  explicit Samples(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Whether the next sample is taken.
  bool takes_next() { return number_++ % step_ == 0; }
  void add(std::span<const std::byte> sample) {
    if (sample.size() < kLeastZstdSampleBytes) return;
    bytes_.insert(bytes_.end(), sample.begin(), sample.end());
    sizes_.push_back(sample.size());
    while (bytes_.size() > most_bytes_ && sizes_.size() > 1) leave_out_half();
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<const std::size_t> sizes() const { return sizes_; }

 private:
  void leave_out_half() {
    std::size_t from = 0, to = 0, kept = 0;
    for (std::size_t i = 0; i < sizes_.size(); from += sizes_[i++]) {
      if (i % 2 != 0) continue;
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(from), sizes_[i],
                  bytes_.begin() + static_cast<std::ptrdiff_t>(to));
      to += sizes_[i];
      sizes_[kept++] = sizes_[i];
    }
    bytes_.resize(to);
    sizes_.resize(kept);
    step_ *= 2;
  }

  std::uint64_t most_bytes_;
  std::uint64_t number_ = 0, step_ = 1;
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> sizes_;
};

std::uint32_t id_from(const std::string& text) {
  const auto id = read_number<std::uint32_t>(text);
  if (!id || *id == 0)
    throw UsageError(fmt::format("--dictID '{}': a number from 1 to {}", text, UINT32_MAX));
  return *id;
}

std::uint64_t dictionary_bytes_from(const std::string& text) {
  const std::uint64_t bytes = size_from("--maxdict", text);
  if (bytes < kLeastTrainedBytes || bytes > kMostTrainedBytes)
    throw UsageError(fmt::format("--maxdict '{}': a dictionary has {} bytes to {}M", text, kLeastTrainedBytes,
                                 kMostTrainedBytes >> 20));
  return bytes;
}

void add_train_options(OptionTable& table, TrainRequest& request) {
  Request& files = request.files;
  table.value("-o,--output", "DICT", files.output_path, "the dictionary's name");
  table.value(
      "--maxdict", "SIZE",
      [&request](const std::string& text) { request.dictionary_bytes = dictionary_bytes_from(text); },
      "most bytes of the dictionary (default: 110K)");
  table.value(
      "--dictID", "N", [&request](const std::string& text) { request.id = id_from(text); },
      "the number by which frames name the dictionary (default: one that follows from its content)");
  table.flag("-f,--force", files.force, "replace an existing DICT; with -r, take compressed files as well");
  table.flag("-r,--recursive", files.recursive, "take the files in folders");
  add_name_options(table, files.name_rules);
  add_memory_option(
      table, [&request](std::uint64_t bytes) { request.samples_bytes = bytes; },
      "most bytes of samples; of more, some are left out evenly (default: 64M)");
  table.flag("-q,--quiet", files.quiet, "errors only");
  table.help_flag("-h,--help");
}

Outcome take_sample(const Request& request, const FileName& file, Samples& samples,
                    std::vector<std::byte>& room) {
  FileSource source(file);
  if (source.is_directory()) throw ToolError("a folder (-r takes each file in it)");
  if (leaves_compressed_files(request) && compressed_already(source.first_bytes(), source.file().name))
    return Outcome::kLeft;
  if (samples.takes_next()) samples.add(std::span(room).first(source.read(room)));
  return Outcome::kDone;
}

}  // namespace

int run_train(std::span<const std::string> words) {
  TrainRequest request;
  OptionTable table;
  add_train_options(table, request);
  Request& files = request.files;
  files.compress.format = Format::kZstd;
  files.files = table.read(words);
  if (table.help_asked()) {
    fmt::print("{}{}", kTrainIntroduction, train_options_help(nullptr));
    return kExitDone;
  }
  if (files.files.empty())
    throw UsageError("train needs FILEs, short ones like those that are to be compressed");
  const std::string path = std::exchange(files.output_path, {});
  if (path.empty() || path == kStandardStream)
    throw UsageError("train needs the name of the dictionary: -o DICT");
  struct stat existing {};
  if (!files.force && lstat(path.c_str(), &existing) == 0)
    throw ToolError(
        fmt::format("'{}' exists (-f overwrites it, -o FILE gives another name)", shown_name(path)));

  Samples samples(request.samples_bytes);
  std::vector<std::byte> room(
      static_cast<std::size_t>(std::min<std::uint64_t>(kMostSampleBytes, request.samples_bytes)));
  const int status =
      for_each_file(files, [&](const FileName& file) { return take_sample(files, file, samples, room); });
  if (status == kExitError) return status;
  if (samples.sizes().size() < kLeastZstdSamples)
    throw ToolError(
        fmt::format("{} samples are too few: {} files of {} bytes or more at least, and better hundreds",
                    samples.sizes().size(), kLeastZstdSamples, kLeastZstdSampleBytes));
  // The zstd tool warns from there on as well.
  constexpr std::uint64_t kFewTimes = 8;
  if (!files.quiet && samples.bytes().size() < kFewTimes * request.dictionary_bytes)
    print_message(
        fmt::format("the samples have {} bytes, which is little for a dictionary of {} (take 100 times as "
                    "many, or a smaller --maxdict)",
                    samples.bytes().size(), request.dictionary_bytes));
  const std::vector<std::byte> dictionary = train_zstd_dictionary(
      samples.bytes(), samples.sizes(), static_cast<std::size_t>(request.dictionary_bytes), request.id);
  NewFile file(path);
  file.write(0, dictionary);
  file.complete();
  return status;
}

std::string train_options_help(const OptionTable* above) {
  TrainRequest request;
  OptionTable table;
  add_train_options(table, request);
  return table.help(above);
}

}  // namespace hemstitch::cli
