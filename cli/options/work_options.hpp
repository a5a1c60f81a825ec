// Options about how to work, shared by several commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/files/walk/name_rules.hpp"
#include "cli/options/option_table.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch::cli {

void add_threads_option(OptionTable& table, const std::function<void(unsigned threads)>& take);
void add_memory_option(OptionTable& table, const std::function<void(std::uint64_t bytes)>& take,
                       std::string help);
void add_device_option(OptionTable& table, std::string& device);
void add_name_options(OptionTable& table, NameRules& rules);

// What --best asks for: the highest level of the format.
inline constexpr int kBestLevel = std::numeric_limits<int>::max();
// What -0 asks for: the content as it is, CompressOptions::stored.
inline constexpr int kStoredLevel = std::numeric_limits<int>::min();

// The options of compressing and restoring.
struct WorkOptions {
  std::vector<int>
      levels;  // in the order in which they were given; kBestLevel and kStoredLevel may be among them
  std::optional<std::size_t> block_bytes;
  bool linked_blocks = false;         // --linked
  std::optional<bool> linked_letter;  // -BD, -BI
  bool checks_letter = false;         // -BX
  std::optional<unsigned> threads;
  std::uint64_t memory_bytes = 0, gpu_memory_bytes = 0;
  std::string backend, device;
  bool reproducible = false;

  // Applies the options and the environment, except for the level. Throws UsageError.
  void apply(CompressOptions& compress, RestoreOptions& restore) const;
};

// Returns the first row.
OptionRow& add_level_options(OptionTable& table, WorkOptions& work, std::string shown, std::string help);
void add_block_size_option(OptionTable& table, WorkOptions& work);
void add_resource_options(OptionTable& table, WorkOptions& work);

// A level of the format. Throws UsageError if it has no such level.
int level_of_format(int level, Format format, std::string_view origin = "level");
// HEMSTITCH_LEVEL, if it is set. Throws UsageError.
std::optional<int> level_of_environment();

}  // namespace hemstitch::cli
