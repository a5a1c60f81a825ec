// The options of calls, from Python's keywords: one list of names for all of them, and errors that name the
// keyword.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "module.hpp"
#include "python_buffers.hpp"

namespace hemstitch::python {

// The value of a keyword. Each throws nb::type_error for an object of another type, and Error
// (kInvalidOption) for a number out of bounds, both with the keyword's name.
class Keyword {
 public:
  Keyword(std::string_view name, nb::handle value) : name_(name), value_(value) {}

  std::string_view name() const { return name_; }
  nb::handle value() const { return value_; }
  bool flag() const;
  std::string text() const;
  // As Python hands names of files to the system: text, or bytes as they are.
  std::string file_name() const;
  template <class Number>
  Number number(std::int64_t least, std::int64_t most) const {
    return static_cast<Number>(number_within(least, most));
  }
  Buffer buffer() const;

 private:
  std::int64_t number_within(std::int64_t least, std::int64_t most) const;
  [[noreturn]] void refuse(const char* expected) const;

  std::string_view name_;
  nb::handle value_;
};

// Those that many calls have.
unsigned threads_of(nb::handle threads);
int level_of(nb::handle level);  // None: 0, the default

// Calls set(keyword) for each, which returns whether it knows the name. Throws nb::type_error for an unknown one.
template <class Set>
void read_keywords(const nb::kwargs& given, const Set& set) {
  for (const auto& [key, value] : given) {
    const nb::object name = nb::borrow(key);  // keeps the text alive
    const std::string_view text = nb::cast<const char*>(name);
    if (!set(Keyword(text, value)))
      throw nb::type_error(("unexpected keyword argument '" + std::string(text) + "'").c_str());
  }
}

// What a call works by; `options` may refer to the bytes of `dictionary`.
struct CompressCall {
  CompressOptions options;
  std::optional<Buffer> dictionary = {};
};
struct RestoreCall {
  RestoreOptions options;
  std::optional<Buffer> dictionary = {};
};

// Keywords have the names of the options in hemstitch.hpp. set_other() is called for what is none of them, and
// returns whether it knows it.
using SetOther = std::function<bool(const Keyword&)>;
CompressCall compress_call(const nb::kwargs& given, const SetOther& set_other = {});
RestoreCall restore_call(const nb::kwargs& given, const SetOther& set_other = {});

}  // namespace hemstitch::python
