#include "keywords.hpp"

#include <limits>

namespace hemstitch::python {
namespace {

constexpr std::int64_t kMostUnsigned = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max();

std::string type_of(nb::handle value) { return nb::type_name(value.type()).c_str(); }

std::string encoded_name(nb::handle text) {
  const nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(text.ptr()));
  if (!bytes.is_valid()) nb::raise_python_error();
  return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
}

// Options that compressing and restoring share; whether it is one of them.
template <class Call>
bool set_shared(const Keyword& keyword, Call& call) {
  auto& options = call.options;
  const std::string_view name = keyword.name();
  if (name == "backend")
    options.backend = keyword.text();
  else if (name == "threads")
    options.threads = threads_of(keyword.value());
  else if (name == "window_log")
    options.window_log = keyword.number<int>(INT32_MIN, INT32_MAX);
  else if (name == "dictionary") {
    if (!keyword.value().is_none()) options.dictionary = call.dictionary.emplace(keyword.buffer()).bytes();
  } else if (name == "memory_limit_bytes")
    options.memory_limit_bytes = keyword.number<std::uint64_t>(0, kMostBytes);
  else
    return false;
  return true;
}

template <class Options>
void set_working_place(Options& options) {
  WorkingPlace place = working_place(options.backend, options.threads);
  options.backend = std::move(place.backend);
  options.threads = place.threads;
}

}  // namespace

void Keyword::refuse(const char* expected) const {
  throw nb::type_error((std::string(name_) + " has to be " + expected + ", not " + type_of(value_)).c_str());
}

bool Keyword::flag() const {
  if (!PyBool_Check(value_.ptr())) refuse("True or False");
  return value_.is(nb::handle(Py_True));
}

std::string Keyword::text() const {
  if (PyUnicode_Check(value_.ptr()) == 0) refuse("a str");
  return nb::cast<std::string>(value_);
}

std::string Keyword::file_name() const {
  if (PyBytes_Check(value_.ptr()) != 0)
    return {PyBytes_AsString(value_.ptr()), static_cast<std::size_t>(PyBytes_Size(value_.ptr()))};
  if (PyUnicode_Check(value_.ptr()) == 0) refuse("a str or bytes");
  return encoded_name(value_);
}

std::int64_t Keyword::number_within(std::int64_t least, std::int64_t most) const {
  if (PyIndex_Check(value_.ptr()) == 0) refuse("a whole number");
  const nb::object index = nb::steal(PyNumber_Index(value_.ptr()));
  if (!index.is_valid()) nb::raise_python_error();
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0 || number < least || number > most)
    throw Error(Status::kInvalidOption, std::string(name_) + " is " + nb::str(index).c_str() +
                                            "; it may be " + std::to_string(least) + " to " +
                                            std::to_string(most));
  return number;
}

Buffer Keyword::buffer() const {
  if (PyObject_CheckBuffer(value_.ptr()) == 0) refuse("an object with the buffer protocol");
  return Buffer(value_);
}

unsigned threads_of(nb::handle threads) {
  return Keyword("threads", threads).number<unsigned>(0, kMostUnsigned);
}

int level_of(nb::handle level) {
  if (level.is_none()) return 0;
  const int number = Keyword("level", level).number<int>(INT32_MIN, INT32_MAX);
  if (number == 0)  // it means the default in the library; in Python that is None
    throw Error(Status::kInvalidOption, "level is 0; give None for the default");
  return number;
}

CompressCall compress_call(const nb::kwargs& given, const SetOther& set_other) {
  CompressCall call;
  CompressOptions& options = call.options;
  std::string format = "lz4";
  read_keywords(given, [&](const Keyword& keyword) {
    const std::string_view name = keyword.name();
    const bool is_none = keyword.value().is_none();
    if (name == "format") {
      if (!is_none) format = keyword.text();
    } else if (name == "level")
      options.level = level_of(keyword.value());
    else if (name == "block_bytes")
      options.block_bytes = keyword.number<std::size_t>(0, kMostBytes);
    else if (name == "seekable_bytes")
      options.seekable_bytes = keyword.number<std::size_t>(0, kMostBytes);
    else if (name == "acceleration")
      options.acceleration = keyword.number<int>(INT32_MIN, INT32_MAX);
    else if (name == "linked_blocks")
      options.linked_blocks = keyword.flag();
    else if (name == "stored")
      options.stored = keyword.flag();
    else if (name == "rsyncable")
      options.rsyncable = keyword.flag();
    else if (name == "legacy")
      options.legacy = keyword.flag();
    else if (name == "block_checksums")
      options.block_checksums = keyword.flag();
    else if (name == "content_checksum")
      options.content_checksum = keyword.flag();
    else if (name == "verify")
      options.verify = keyword.flag();
    else if (name == "stored_name") {
      if (!is_none) options.stored_name = keyword.file_name();
    } else if (name == "stored_time") {
      if (!is_none) options.stored_time = keyword.number<std::uint32_t>(0, kMostUnsigned);
    } else
      return set_shared(keyword, call) || (set_other && set_other(keyword));
    return true;
  });
  const auto known = format_of(format);
  if (!known) throw Error(Status::kInvalidOption, "format 'auto' works only for restoring");
  options.format = *known;
  set_working_place(options);
  return call;
}

RestoreCall restore_call(const nb::kwargs& given, const SetOther& set_other) {
  RestoreCall call;
  RestoreOptions& options = call.options;
  read_keywords(given, [&](const Keyword& keyword) {
    const std::string_view name = keyword.name();
    if (name == "format") {
      if (!keyword.value().is_none()) options.format = format_of(keyword.text());
    } else if (name == "verify_checksums")
      options.verify_checksums = keyword.flag();
    else if (name == "accept_any_dictionary_id")
      options.accept_any_dictionary_id = keyword.flag();
    else
      return set_shared(keyword, call) || (set_other && set_other(keyword));
    return true;
  });
  set_working_place(options);
  return call;
}

}  // namespace hemstitch::python
