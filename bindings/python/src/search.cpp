// Text search: returns what `hemstitch search` finds as objects and arrays.
#include "hemstitch/search.hpp"

#include <nanobind/stl/vector.h>

#include <limits>

#include "arrays.hpp"
#include "keywords.hpp"
#include "module.hpp"
#include "python_buffers.hpp"
#include "signals.hpp"

namespace hemstitch::python {
namespace {

// Patterns are bytes, or text, which is encoded as UTF-8.
std::vector<std::string> patterns_of(nb::handle patterns) {
  std::vector<std::string> list;
  const auto add = [&](nb::handle pattern) {
    if (nb::isinstance<nb::str>(pattern)) {
      Py_ssize_t bytes = 0;
      const char* const text = PyUnicode_AsUTF8AndSize(pattern.ptr(), &bytes);
      if (text == nullptr) {
        PyErr_Clear();
        throw Error(
            Status::kInvalidOption,
            "pattern " + std::to_string(list.size() + 1) + " (" + nb::repr(pattern).c_str() +
                ") has half of a surrogate pair, which UTF-8 cannot encode; pass the bytes to look for");
      }
      list.emplace_back(text, static_cast<std::size_t>(bytes));
    } else {
      const Buffer buffer(pattern);
      list.emplace_back(reinterpret_cast<const char*>(buffer.bytes().data()), buffer.bytes().size());
    }
  };
  if (nb::isinstance<nb::str>(patterns) || PyObject_CheckBuffer(patterns.ptr()) != 0)
    add(patterns);
  else
    for (const nb::handle pattern : nb::iter(patterns)) add(pattern);
  return list;
}

template <class Value>
Value named(const std::string& name, const char* field,
            std::initializer_list<std::pair<const char*, Value>> values) {
  std::string known;
  for (const auto& [value_name, value] : values) {
    if (name == value_name) return value;
    known += (known.empty() ? "'" : ", '") + std::string(value_name) + "'";
  }
  throw Error(Status::kInvalidOption, std::string(field) + " is '" + name + "'; it may be " + known);
}

using Wanted = SearchOptions::Wanted;
using Binary = SearchOptions::Binary;

struct Searcher {
  TextSearcher searcher;
};

void make_searcher(Searcher* self, nb::object patterns, const nb::kwargs& given) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  SearchOptions options;
  options.patterns = patterns_of(patterns);
  std::string backend = "auto";
  unsigned threads = 0;
  read_keywords(given, [&](const Keyword& keyword) {
    const std::string_view name = keyword.name();
    if (name == "ignore_case")
      options.ignore_case = keyword.flag();
    else if (name == "whole_words")
      options.whole_words = keyword.flag();
    else if (name == "whole_lines")
      options.whole_lines = keyword.flag();
    else if (name == "invert")
      options.invert = keyword.flag();
    else if (name == "most_lines") {
      if (!keyword.value().is_none()) options.most_lines = keyword.number<std::uint64_t>(0, kMost);
    } else if (name == "wanted")
      options.wanted = named<Wanted>(
          keyword.text(), "wanted",
          {{"lines", Wanted::kLines}, {"count", Wanted::kCount}, {"whether", Wanted::kWhether}});
    else if (name == "binary")
      options.binary =
          named<Binary>(keyword.text(), "binary",
                        {{"told", Binary::kTold}, {"text", Binary::kText}, {"no-match", Binary::kNoMatch}});
    else if (name == "before")
      options.before = keyword.number<std::uint64_t>(0, kMost);
    else if (name == "after")
      options.after = keyword.number<std::uint64_t>(0, kMost);
    else if (name == "matches")
      options.matches = keyword.flag();
    else if (name == "decompress")
      options.decompress = keyword.flag();
    else if (name == "backend")
      backend = keyword.text();
    else if (name == "threads")
      threads = keyword.number<unsigned>(0, std::numeric_limits<unsigned>::max());
    else
      return false;
    return true;
  });
  WorkingPlace place = working_place(backend, threads);
  // With "auto", TextSearcher searches on the processor.
  options.backend = place.backend == "cpu" ? "auto" : place.backend;
  options.threads = place.threads;
  options.between_pieces = Signals::between_pieces_of_this_thread();
  const nb::gil_scoped_release released;
  new (self) Searcher{TextSearcher(options)};
}

// Paths are text, bytes or os.PathLike, as for open().
std::vector<SearchedText> search_files(const Searcher& self, nb::iterable paths) {
  std::vector<std::string> encoded;
  for (const nb::handle path : nb::iter(paths)) {
    PyObject* bytes = nullptr;
    if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) nb::raise_python_error();
    const nb::bytes owned = nb::steal<nb::bytes>(bytes);
    encoded.emplace_back(owned.c_str(), owned.size());
  }
  Signals signals;
  return signals.watch([&] { return self.searcher.search_files(encoded); });
}

SearchedText search_text(const Searcher& self, nb::object text) {
  const Buffer buffer(text);
  const std::string_view content(reinterpret_cast<const char*>(buffer.bytes().data()), buffer.bytes().size());
  Signals signals;
  return signals.watch([&] { return self.searcher.search(content); });
}

// Returns two arrays: the positions of matches in `text`, and their lengths.
nb::tuple find_in(const Searcher& self, nb::object text) {
  std::vector<std::uint64_t> positions;
  std::vector<std::uint32_t> lengths;
  {
    const Buffer buffer(text);
    Signals signals;
    signals.watch([&] {
      const std::uint64_t offsets[] = {0, buffer.bytes().size()};
      for (const SearchMatch& match : self.searcher.find(buffer.bytes(), offsets)) {
        positions.push_back(match.position);
        lengths.push_back(match.bytes);
      }
    });
  }
  return nb::make_tuple(array_of(std::move(positions)), array_of(std::move(lengths)));
}

}  // namespace

void add_search(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<SearchMatch>(module, "SearchMatch", "The place of a pattern in a line, and its size.")
      .def_ro("position", &SearchMatch::position)
      .def_ro("bytes", &SearchMatch::bytes)
      .def("__repr__", [](const SearchMatch& match) {
        return "<hemstitch.SearchMatch position=" + std::to_string(match.position) +
               " bytes=" + std::to_string(match.bytes) + ">";
      });
  nb::class_<SearchedLine>(module, "SearchedLine", "A selected line, or one beside it.")
      .def_ro("number", &SearchedLine::number, "From 1.")
      .def_ro("byte", &SearchedLine::byte, "The place of its first byte in the text.")
      .def_prop_ro(
          "text", [](const SearchedLine& line) { return nb::bytes(line.text.data(), line.text.size()); },
          "Without the line's end.")
      .def_ro("selected", &SearchedLine::selected)
      .def_ro("matches", &SearchedLine::matches)
      .def("__repr__", [](const SearchedLine& line) {
        return "<hemstitch.SearchedLine number=" + std::to_string(line.number) +
               " text=" + nb::repr(nb::bytes(line.text.data(), line.text.size())).c_str() + ">";
      });
  nb::class_<SearchedText>(module, "SearchedText", "What was found in one text.")
      .def_ro("count", &SearchedText::count, "The number of selected lines.")
      .def_ro("lines", &SearchedText::lines)
      .def_ro("in_binary", &SearchedText::in_binary,
              "A selected line is in the binary part; it is not in `lines`.")
      .def_ro("error", &SearchedText::error, "Why a file was not searched completely; empty if it was.")
      .def("__repr__", [](const SearchedText& text) {
        return "<hemstitch.SearchedText count=" + std::to_string(text.count) +
               (text.error.empty() ? "" : " error='" + text.error + "'") + ">";
      });
  nb::class_<Searcher>(module, "Searcher",
                       "Fixed strings to look for, ready for many texts and any number of threads.")
      .def("__init__", make_searcher, "patterns"_a, "options"_a)
      .def("search_files", search_files, "paths"_a,
           "A SearchedText for each path; its `error` says why a file cannot be read.")
      .def("search", search_text, "text"_a, "Searches one text in memory for lines.")
      .def("find", find_in, "text"_a,
           "The places of patterns in a text, and their lengths: two numpy arrays, or memoryviews without "
           "numpy.");
}

}  // namespace hemstitch::python
