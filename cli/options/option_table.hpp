// The options of a command, each said once in a row: its names, what its value is, what it does, and its text in the help. Reading words and
// the help both stand on the rows.
//
// The words are split here, CLI11 then reads options alone: so a bundle may end in a level (-9k, -d12), a file may have any name, and
// options come in the order in which they were given, over which the last one of several wins.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hemstitch::cli {

struct OptionRow {
  const CLI::Option* option = nullptr;
  std::function<void(const std::string& value)> take = {};  // may throw UsageError
  std::string section = {};                                 // of the help, that begins with this row
  std::string shown = {};                                   // in the help: names and value
  std::string help = {};                                    // where it is empty the row is not shown

  std::optional<std::string> alone = {};  // what it means without a value, which then stands behind a '='
  // Letters that are values by themselves, also before and behind another one in a bundle: the D of -BD, -B4D, -BDf.
  std::string_view value_letters = {};

  OptionRow& begins(std::string title);
  OptionRow& shown_as(std::string names);
  OptionRow& means_alone(std::string value);
  OptionRow& has_value_letters(std::string_view letters);

  bool takes_value() const;
};

class OptionTable {
 public:
  enum class Habits {
    kLz4,   // digits among letters are a level; a value is never empty
    kGrep,  // the names of long options may be cut short; a value may be empty
  };

  explicit OptionTable(Habits habits = Habits::kLz4);
  ~OptionTable();
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;

  // Names as in "-T,--threads". What they refer to must live until read() returns.
  OptionRow& flag(const std::string& names, bool& set, std::string help);
  OptionRow& flag(const std::string& names, const std::function<void()>& take, std::string help);
  OptionRow& value(const std::string& names, std::string_view placeholder, std::string& to, std::string help);
  OptionRow& value(const std::string& names, std::string_view placeholder,
                   std::function<void(const std::string& value)> take, std::string help);
  // The one that asks for the help: no other is taken beside it, so that nothing is wrong with them.
  OptionRow& help_flag(const std::string& names);
  bool help_asked() const { return help_asked_; }

  // Takes the options among `words` in their order; returns the others, the files. Throws UsageError.
  std::vector<std::string> read(std::span<const std::string> words);

  // A line or more for each row. Beside `above`, whose help stands above this one: without sections and help_flag(), and rows that are
  // the same there are named alone.
  std::string help(const OptionTable* above = nullptr) const;

 private:
  OptionRow& add(const CLI::Option* option, std::string_view placeholder, std::string help);
  bool has_same_row(const OptionRow& row) const;

  std::unique_ptr<CLI::App> app_;
  Habits habits_;
  std::deque<OptionRow> rows_;
  const CLI::Option* help_ = nullptr;
  bool help_asked_ = false;
};

}  // namespace hemstitch::cli
