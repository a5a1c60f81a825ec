#include "cli/options/option_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <utility>

#include "cli/options/option_values.hpp"
#include "cli/options/split_words.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::size_t kHelpIndent = 24;
constexpr std::size_t kHelpWidth = 79;

// For example "-T, --threads N".
std::string shown_names(const CLI::Option& option, std::string_view placeholder) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back('-' + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return fmt::format("{}{}{}", fmt::join(names, ", "), placeholder.empty() ? "" : " ", placeholder);
}

// Puts `text` into its column, broken between words: after `names`, or below them if they are too long.
std::string help_lines(const std::string& names, std::string_view text) {
  std::string lines = "  " + names;
  std::size_t column = lines.size();
  const auto to_column = [&] {
    if (column + 1 > kHelpIndent) {
      lines += '\n';
      column = 0;
    }
    lines.append(kHelpIndent - column, ' ');
    column = kHelpIndent;
  };
  to_column();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column > kHelpIndent && column + 1 + end > kHelpWidth) {
      lines += '\n';
      column = 0;
      to_column();
    } else if (column > kHelpIndent) {
      lines += ' ';
      ++column;
    }
    lines += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + '\n';
}

}  // namespace

OptionRow& OptionRow::begins(std::string title) {
  section = std::move(title);
  return *this;
}

OptionRow& OptionRow::shown_as(std::string names) {
  shown = std::move(names);
  return *this;
}

OptionRow& OptionRow::means_alone(std::string value) {
  alone = std::move(value);
  shown = fmt::format("{}[={}]", shown.substr(0, shown.rfind(' ')), shown.substr(shown.rfind(' ') + 1));
  return *this;
}

OptionRow& OptionRow::has_value_letters(std::string_view letters) {
  value_letters = letters;
  return *this;
}

bool OptionRow::takes_value() const { return option->get_items_expected_max() > 0; }

OptionTable::OptionTable(Habits habits) : app_(std::make_unique<CLI::App>()), habits_(habits) {
  app_->set_help_flag();
}

OptionTable::~OptionTable() = default;

OptionRow& OptionTable::add(const CLI::Option* option, std::string_view placeholder, std::string help) {
  OptionRow& row = rows_.emplace_back();
  row.option = option;
  row.shown = shown_names(*option, placeholder);
  row.help = std::move(help);
  return row;
}

OptionRow& OptionTable::flag(const std::string& names, bool& set, std::string help) {
  return flag(
      names, [&set] { set = true; }, std::move(help));
}

OptionRow& OptionTable::flag(const std::string& names, const std::function<void()>& take, std::string help) {
  OptionRow& row = add(app_->add_flag(names), "", std::move(help));
  row.take = [take](const std::string&) { take(); };
  return row;
}

OptionRow& OptionTable::value(const std::string& names, std::string_view placeholder, std::string& to,
                              std::string help) {
  return value(
      names, placeholder, [&to](const std::string& value) { to = value; }, std::move(help));
}

OptionRow& OptionTable::value(const std::string& names, std::string_view placeholder,
                              std::function<void(const std::string& value)> take, std::string help) {
  CLI::Option* const option = app_->add_option(names);
  option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  OptionRow& row = add(option, placeholder, std::move(help));
  row.take = std::move(take);
  return row;
}

OptionRow& OptionTable::help_flag(const std::string& names) {
  OptionRow& row = flag(
      names, [] {}, "this text");
  help_ = row.option;
  return row;
}

std::vector<std::string> OptionTable::read(std::span<const std::string> words) {
  SplitWords split = split_words(rows_, habits_, words);
  std::reverse(split.options.begin(), split.options.end());  // CLI11 takes them from the end
  try {
    app_->parse(split.options);
  } catch (const CLI::ExtrasError&) {
    const std::string unknown = app_->remaining().empty() ? "" : app_->remaining().front();
    throw UsageError(fmt::format("no such option: {}", unknown.substr(0, unknown.find('='))));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  help_asked_ = help_ != nullptr && help_->count() > 0;
  std::map<const CLI::Option*, std::size_t> taken;
  if (!help_asked_)
    for (const CLI::Option* option : app_->parse_order())
      std::ranges::find(rows_, option, &OptionRow::option)->take(option->results()[taken[option]++]);
  return std::move(split.files);
}

bool OptionTable::has_same_row(const OptionRow& row) const {
  return std::ranges::any_of(
      rows_, [&](const OptionRow& other) { return other.shown == row.shown && other.help == row.help; });
}

std::string OptionTable::help(const OptionTable* above) const {
  std::string help, said_above;
  for (const OptionRow& row : rows_) {
    if (row.help.empty() || (above != nullptr && row.option == help_)) continue;
    if (above != nullptr && above->has_same_row(row)) {
      said_above += (said_above.empty() ? "" : ", ") + row.shown.substr(0, row.shown.find_first_of(" ,["));
      continue;
    }
    if (above == nullptr && !row.section.empty())
      help += fmt::format("{}{}\n", help.empty() ? "" : "\n", row.section);
    help += help_lines(row.shown, row.help);
  }
  if (!said_above.empty()) help += help_lines(said_above, "as above");
  return help;
}

}  // namespace hemstitch::cli
