// The commands: a row in the table for each, and a function that reads the words after the command and
// returns the exit status. run_tool() prints what it throws.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/options/option_table.hpp"

namespace hemstitch::cli {

struct Command {
  std::string_view name;
  std::string_view arguments;  // as in the help
  std::string_view summary;
  int (*run)(std::span<const std::string> words);
  // The help of its options, below the help of compressing or by itself.
  std::string (*options_help)(const OptionTable* above);
};

// Every word that is a command in the first position.
std::span<const Command> commands();

// Without a command: compresses, restores, tests or lists files.
int run_files(std::span<const std::string> words);

// gunzip, zcat and the like: the program's name, without folders, by which it restores. Then no word is a
// command.
bool is_restoring_name(std::string_view program);
int run_restoring_name(std::string_view program, std::span<const std::string> words);

int run_index(std::span<const std::string> words);
std::string index_options_help(const OptionTable* above);
int run_train(std::span<const std::string> words);
std::string train_options_help(const OptionTable* above);
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

// search has grep's exit statuses: 1 is an answer, and this is an error.
inline constexpr int kExitTrouble = 2;
int run_search(std::span<const std::string> words);
std::string search_options_help(const OptionTable* above);

}  // namespace hemstitch::cli
