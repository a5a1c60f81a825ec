// The options of a command. Each is declared once in a row: its names, its value, what it does, and its text
// in the help. Reading words and printing the help both use the rows.
//
// A bundle may end in a level (-9k, -d12), a file may have any name, and options are taken in the order in
// which they were given: the last one of several wins.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hemstitch::cli {

struct OptionRow {
  std::vector<std::string> letters = {}, words = {};  // its short and long names, without dashes
  bool takes_value = false;
  std::function<void(const std::string& value)> take = {};  // may throw UsageError
  std::string section = {};                                 // of the help; it begins with this row
  std::string shown = {};                                   // in the help: names and value
  std::string help = {};                                    // if empty, the row is not shown

  std::optional<std::string> alone = {};  // the value without an explicit one, which must then follow '='
  // Letters that are values by themselves, also before and after another one in a bundle: the D of -BD,
  // -B4D, -BDf.
  std::string_view value_letters = {};

  OptionRow& begins(std::string title);
  OptionRow& explained_as(std::string text);
  OptionRow& shown_as(std::string names);
  OptionRow& means_alone(std::string value);
  OptionRow& has_value_letters(std::string_view all);
};

class OptionTable {
 public:
  enum class Habits {
    kLz4,   // digits among letters are a level; a value is never empty
    kGrep,  // digits among letters are lines of context; long names may be shortened; a value may be empty
  };

  explicit OptionTable(Habits habits = Habits::kLz4) : habits_(habits) {}
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;

  // Names as in "-T,--threads". References must stay valid until read() returns.
  OptionRow& flag(const std::string& names, bool& set, std::string help);
  OptionRow& flag(const std::string& names, const std::function<void()>& take, std::string help);
  OptionRow& value(const std::string& names, std::string_view placeholder, std::string& to, std::string help);
  OptionRow& value(const std::string& names, std::string_view placeholder,
                   std::function<void(const std::string& value)> take, std::string help);
  // An option of other tools that is not here: giving it, with a value or without, is an error that says what
  // is. The help does not show it.
  void refuse(const std::string& name, std::string advice);
  // The option that asks for the help. Then no other option is evaluated, so none can be wrong.
  OptionRow& help_flag(const std::string& names);
  bool help_asked() const { return help_asked_; }

  // Processes the options among `words` in order; returns the others, the files. Throws UsageError.
  std::vector<std::string> read(std::span<const std::string> words);

  // One line or more for each row. With `above`, whose help is printed above this one: without sections and
  // help_flag(), and rows that are the same there show only their names.
  std::string help(const OptionTable* above = nullptr) const;
  // That of the rows with these long names, in this order.
  std::string help_of(std::span<const std::string_view> words) const;

 private:
  OptionRow& add(std::string_view names, std::string_view placeholder, std::string help);
  bool has_same_row(const OptionRow& row) const;

  Habits habits_;
  std::deque<OptionRow> rows_;
  const OptionRow* help_ = nullptr;
  bool help_asked_ = false;
};

// The help of the options that add(table, request) adds, as OptionTable::help() has it.
template <class Request>
std::string help_of_options(const OptionTable* above, void (*add)(OptionTable&, Request&)) {
  Request request;
  OptionTable table;
  add(table, request);
  return table.help(above);
}

}  // namespace hemstitch::cli
