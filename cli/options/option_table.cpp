#include "cli/options/option_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "cli/options/option_values.hpp"
#include "cli/options/split_words.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::size_t kHelpIndent = 24;
constexpr std::size_t kHelpWidth = 79;

// For example "-T, --threads N".
std::string shown_names(const OptionRow& row, std::string_view placeholder) {
  std::vector<std::string> names;
  for (const std::string& letter : row.letters) names.push_back('-' + letter);
  for (const std::string& word : row.words) names.push_back("--" + word);
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

OptionRow& OptionRow::explained_as(std::string text) {
  help = std::move(text);
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

OptionRow& OptionRow::has_value_letters(std::string_view all) {
  value_letters = all;
  return *this;
}

OptionRow& OptionTable::add(std::string_view names, std::string_view placeholder, std::string help) {
  OptionRow& row = rows_.emplace_back();
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    if (name.starts_with("--"))
      row.words.emplace_back(name.substr(2));
    else
      row.letters.emplace_back(name.substr(1));
  }
  row.takes_value = !placeholder.empty();
  row.shown = shown_names(row, placeholder);
  row.help = std::move(help);
  return row;
}

OptionRow& OptionTable::flag(const std::string& names, bool& set, std::string help) {
  return flag(
      names, [&set] { set = true; }, std::move(help));
}

OptionRow& OptionTable::flag(const std::string& names, const std::function<void()>& take, std::string help) {
  OptionRow& row = add(names, "", std::move(help));
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
  OptionRow& row = add(names, placeholder, std::move(help));
  row.take = std::move(take);
  return row;
}

void OptionTable::refuse(const std::string& name, std::string advice) {
  const auto take = [name, advice = std::move(advice)](const std::string&) {
    throw UsageError(fmt::format("{}: {}", name, advice));
  };
  OptionRow& row = add(name, name.starts_with("--") ? "VALUE" : "", "");
  row.take = take;
  row.alone = "none";
}

OptionRow& OptionTable::help_flag(const std::string& names) {
  OptionRow& row = flag(
      names, [] {}, "this text");
  help_ = &row;
  return row;
}

std::vector<std::string> OptionTable::read(std::span<const std::string> words) {
  SplitWords split = split_words(rows_, habits_, words);
  help_asked_ =
      help_ != nullptr && std::ranges::find(split.options, help_, &GivenOption::row) != split.options.end();
  if (!help_asked_)
    for (const GivenOption& given : split.options) given.row->take(given.value);
  return std::move(split.files);
}

bool OptionTable::has_same_row(const OptionRow& row) const {
  return std::ranges::any_of(
      rows_, [&](const OptionRow& other) { return other.shown == row.shown && other.help == row.help; });
}

std::string OptionTable::help(const OptionTable* above) const {
  std::string help, said_above;
  for (const OptionRow& row : rows_) {
    if (row.help.empty() || (above != nullptr && &row == help_)) continue;
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

std::string OptionTable::help_of(std::span<const std::string_view> words) const {
  std::string help;
  for (const std::string_view word : words) {
    const auto row = std::ranges::find_if(
        rows_, [&](const OptionRow& one) { return std::ranges::find(one.words, word) != one.words.end(); });
    help += help_lines(row->shown, row->help);
  }
  return help;
}

}  // namespace hemstitch::cli
