#include "cli/options/split_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "cli/options/option_values.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kDigits = "0123456789";

bool has_name(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

UsageError no_such_option(std::string_view name) {
  return UsageError(fmt::format("no such option: {}", name));
}

class Splitter {
 public:
  Splitter(const std::deque<OptionRow>& rows, OptionTable::Habits habits, std::span<const std::string> words)
      : rows_(rows), as_grep_(habits == OptionTable::Habits::kGrep), words_(words) {}

  SplitWords split() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (word == "--") {
        split_.files.insert(split_.files.end(), words_.begin() + static_cast<std::ptrdiff_t>(next_),
                            words_.end());
        break;
      }
      if (word.starts_with("--"))
        split_long(word);
      else if (word.size() > 1 && word.front() == '-')
        split_bundle(word);
      else
        split_.files.push_back(word);
    }
    return std::move(split_);
  }

 private:
  const OptionRow& row_of_letter(std::string_view letter) const {
    for (const OptionRow& row : rows_)
      if (has_name(row.letters, letter)) return row;
    throw no_such_option(fmt::format("-{}", letter));
  }

  // `name` with its two dashes.
  const OptionRow& row_of_word(std::string_view name) const {
    const OptionRow* begun = nullptr;
    std::size_t begun_count = 0;
    for (const OptionRow& row : rows_) {
      if (has_name(row.words, name.substr(2))) return row;
      if (std::ranges::none_of(row.words, [&](const auto& own) { return own.starts_with(name.substr(2)); }))
        continue;
      begun = &row;
      ++begun_count;
    }
    if (as_grep_ && begun_count == 1) return *begun;
    throw no_such_option(name);
  }

  void split_long(const std::string& word) {
    const std::size_t equals = word.find('=');
    const bool has_value = equals != std::string::npos;
    const std::string name = word.substr(0, equals);
    const OptionRow& row = row_of_word(name);
    if (!row.takes_value) {
      if (has_value) throw UsageError(fmt::format("{} takes no value", name));
      split_.options.push_back({&row, {}});
    } else if (has_value) {
      add(row, name, word.substr(equals + 1));
    } else {
      add(row, name, row.alone ? *row.alone : next_word(name));
    }
  }

  // -dcf, -9k, -T2, -B64K, -o FILE: a digit begins a level, and an option with a value takes the rest of the
  // word. -BD and the like leave the rest to other options, as in lz4.
  void split_bundle(const std::string& word) {
    for (std::size_t at = 1; at < word.size();) {
      if (word[at] >= '0' && word[at] <= '9') {
        const std::size_t end = std::min(word.find_first_not_of(kDigits, at), word.size());
        split_.options.push_back(
            {&row_of_word(as_grep_ ? "--context" : "--level"), word.substr(at, end - at)});
        at = end;
        continue;
      }
      const std::string name = {'-', word[at++]};
      const OptionRow& row = row_of_letter(std::string_view(name).substr(1));
      if (!row.takes_value) {
        split_.options.push_back({&row, {}});
      } else if (!row.value_letters.empty() && at < word.size()) {
        at = split_letters(row, name, word, at);
      } else {
        add(row, name, at < word.size() ? word.substr(at) : next_word(name));
        break;
      }
    }
  }

  // Takes the letters of -B: the "4D" of -B4D, the "D" of -BDf. Returns where the rest of the bundle begins.
  std::size_t split_letters(const OptionRow& row, const std::string& name, const std::string& word,
                            std::size_t at) {
    const auto take_letters = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) add(row, name, std::string(1, word[i]));
    };
    const std::size_t value = std::min(word.find_first_not_of(row.value_letters, at), word.size());
    take_letters(at, value);
    const bool has_size = value < word.size() && word[value] >= '0' && word[value] <= '9';
    if (!has_size && value > at) return value;
    const std::size_t letters = word.find_last_not_of(row.value_letters) + 1;
    add(row, name, word.substr(value, letters - value));
    take_letters(letters, word.size());
    return word.size();
  }

  std::string next_word(const std::string& option) {
    if (next_ == words_.size()) throw UsageError(fmt::format("{} needs a value after it", option));
    return words_[next_++];
  }

  void add(const OptionRow& row, const std::string& name, const std::string& value) {
    if (value.empty() && !as_grep_) throw UsageError(fmt::format("{} has an empty value", name));
    split_.options.push_back({&row, value});
  }

  const std::deque<OptionRow>& rows_;
  const bool as_grep_;
  std::span<const std::string> words_;
  std::size_t next_ = 0;
  SplitWords split_;
};

}  // namespace

SplitWords split_words(const std::deque<OptionRow>& rows, OptionTable::Habits habits,
                       std::span<const std::string> words) {
  return Splitter(rows, habits, words).split();
}

}  // namespace hemstitch::cli
