#include "cli/options/work_options.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/options/option_values.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kReproducible = "reproducible";  // the registry then chooses

// The block sizes of the LZ4 frame format, and their numbers in lz4's -B.
struct BlockSize {
  std::string_view id;
  std::size_t bytes;
};
constexpr std::array<BlockSize, 4> kBlockSizes{{
    {"4", 64 * kKilo},
    {"5", 256 * kKilo},
    {"6", kKilo* kKilo},
    {"7", 4 * kKilo* kKilo},
}};

std::size_t block_bytes_from(const std::string& text) {
  for (const BlockSize& size : kBlockSizes)
    if (text == size.id || read_size(text) == size.bytes) return size.bytes;
  throw UsageError(fmt::format("-B '{}': a block has 64K, 256K, 1M or 4M (or lz4's 4, 5, 6, 7)", text));
}

// Other words of lz4's -B: linked blocks (D), independent blocks (I), block checksums (X).
void take_block_word(const std::string& word, WorkOptions& work) {
  if (word == "D" || word == "I")
    work.linked_letter = word == "D";
  else if (word == "X")
    work.checks_letter = true;
  else
    work.block_bytes = block_bytes_from(word);
}

bool writes_reproducible_bytes(const std::string& name) {
  for (const auto& backend : BackendRegistry::instance().backends())
    if (backend->name() == name) return backend->fallback_name() == "reference";
  return false;
}

// Returns "auto" if no backend is given.
std::string backend_from(const WorkOptions& work) {
  if (work.reproducible) {
    if (work.backend.empty() || work.backend == "auto") return kReproducible;
    if (!writes_reproducible_bytes(work.backend))
      throw UsageError(
          fmt::format("--reproducible writes the bytes that every GPU writes, and --backend {} writes others",
                      work.backend));
    return work.backend;
  }
  if (!work.backend.empty()) {
    // With "auto", the registry reads the variable. But an explicit option wins over the variable.
    if (work.backend == "auto") unsetenv("HEMSTITCH_BACKEND");
    return work.backend;
  }
  const auto name = environment("HEMSTITCH_BACKEND");
  if (name) check_backend_name("HEMSTITCH_BACKEND", *name);
  return name.value_or("auto");
}

}  // namespace

void add_threads_option(OptionTable& table, const std::function<void(unsigned threads)>& take) {
  table.value(
      "-T,--threads", "N", [take](const std::string& text) { take(threads_from("-T", text)); },
      "threads; 0: one a core (default: 0)");
}

void add_memory_option(OptionTable& table, const std::function<void(std::uint64_t bytes)>& take,
                       std::string help) {
  table.value(
      "--memory", "SIZE", [take](const std::string& text) { take(size_from("--memory", text)); },
      std::move(help));
}

void add_device_option(OptionTable& table, std::string& device) {
  table.value(
      "--device", "DEVICE", device,
      "which device of the backends cuda and webgpu: a number or a part of a name in 'hemstitch "
      "backends -vv', a list of them, or all: cuda works on each of these, webgpu on the first usable one");
}

void add_name_options(OptionTable& table, NameRules& rules) {
  table.value(
      "--include", "GLOB", [&rules](const std::string& glob) { rules.include(glob); },
      "only files whose names match");
  table.value(
      "--exclude", "GLOB", [&rules](const std::string& glob) { rules.exclude(glob); },
      "no files whose names match; the last of both that matches decides");
  table.value(
      "--exclude-dir", "GLOB", [&rules](const std::string& glob) { rules.exclude_folder(glob); },
      "no folders whose names match");
}

int level_of_format(int level, Format id, std::string_view origin) {
  const FrameFormat& format = FormatTable::instance().of(id);
  const LevelRange levels = format.levels();
  if (level == kBestLevel) return levels.most;
  if (level == kStoredLevel) throw UsageError("level 0 stores, and nothing is compressed then");
  if (level != 0 && (level < levels.least || level > levels.most))
    throw UsageError(fmt::format("{} {}: {} has levels {} to {}", origin, level, format.title(), levels.least,
                                 levels.most));
  return level;
}

OptionRow& add_level_options(OptionTable& table, WorkOptions& work, std::string shown, std::string help) {
  const auto take = [&work](const std::string& text) {
    work.levels.push_back(text == "0" ? kStoredLevel : level_from("level", text));
  };
  OptionRow& row = table.value("--level", "N", take, std::move(help)).shown_as(std::move(shown));
  table.flag(
      "--best", [&work] { work.levels.push_back(kBestLevel); }, "the highest level of the format");
  return row;
}

void add_block_size_option(OptionTable& table, WorkOptions& work) {
  table
      .value(
          "-B,--block-size", "SIZE", [&work](const std::string& word) { take_block_word(word, work); },
          "64K, 256K, 1M, 4M, or lz4's 4 to 7 (default: 256K)")
      .has_value_letters("DIX");
}

void add_resource_options(OptionTable& table, WorkOptions& work) {
  add_memory_option(
      table, [&work](std::uint64_t bytes) { work.memory_bytes = bytes; },
      "most memory for buffers (default: no limit)");
  table.value(
      "--gpu-memory", "SIZE",
      [&work](const std::string& text) { work.gpu_memory_bytes = size_from("--gpu-memory", text); },
      "most memory of the device, for cuda and webgpu (default: half of its free memory)");
  table.value(
      "--backend", "NAME",
      [&work](const std::string& name) {
        check_backend_name("--backend", name);
        work.backend = name;
      },
      "where to work: auto, the fastest for the size, or a name that 'hemstitch backends' lists (default: "
      "auto)");
  add_device_option(table, work.device);
  table.flag("--reproducible", work.reproducible,
             "the bytes that every GPU writes, from any machine; slow without a GPU");
}

void WorkOptions::apply(CompressOptions& compress, RestoreOptions& restore) const {
  compress.backend = restore.backend = backend_from(*this);
  if (!device.empty()) check_device_option(compress.backend);
  compress.device = restore.device = device;
  const auto variable = environment("HEMSTITCH_THREADS");
  compress.threads = threads    ? *threads
                     : variable ? threads_from("HEMSTITCH_THREADS", *variable)
                                : compress.threads;
  restore.threads = compress.threads;
  compress.memory_limit_bytes = restore.memory_limit_bytes = memory_bytes;
  compress.gpu_memory_limit_bytes = restore.gpu_memory_limit_bytes = gpu_memory_bytes;
  if (block_bytes) compress.block_bytes = *block_bytes;
  if (linked_blocks && linked_letter == false) throw UsageError("--linked and -BI contradict each other");
  compress.linked_blocks = linked_blocks || linked_letter == true;
}

std::optional<int> level_of_environment() {
  const auto level = environment("HEMSTITCH_LEVEL");
  return level ? std::optional(level_from("HEMSTITCH_LEVEL", *level)) : std::nullopt;
}

}  // namespace hemstitch::cli
