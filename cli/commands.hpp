// The commands: each a row of the table, and a function that reads the words behind the command and returns the exit status. What it
// throws, run_tool() tells.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/options/option_table.hpp"

namespace hemstitch::cli {

struct Command {
  std::string_view name;
  std::string_view arguments;  // as the help shows them
  std::string_view summary;
  int (*run)(std::span<const std::string> words);
  // Of its options; below the help of compressing, or by itself. None where they are those of compressing.
  std::string (*options_help)(const OptionTable* above) = nullptr;
};

// Every word that is a command when it stands first.
std::span<const Command> commands();

// What is done without a command: to compress, restore, test or list files.
int run_files(std::span<const std::string> words);

int run_index(std::span<const std::string> words);
std::string index_options_help(const OptionTable* above);
int run_bench(std::span<const std::string> words);
std::string bench_options_help(const OptionTable* above);
int run_backends(std::span<const std::string> words);
std::string backends_options_help(const OptionTable* above);
int run_evaluate(std::span<const std::string> words);
std::string evaluate_options_help(const OptionTable* above);
int run_analyze(std::span<const std::string> words);
std::string analyze_options_help(const OptionTable* above);

int run_pages(std::span<const std::string> words);
std::string pages_options_help(const OptionTable* above);

// The exit statuses of search are grep's: 1 is an answer, and this an error.
inline constexpr int kExitTrouble = 2;
int run_search(std::span<const std::string> words);
std::string search_options_help(const OptionTable* above);

}  // namespace hemstitch::cli
