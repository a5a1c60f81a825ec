// Pages that are kept compressed in memory.
#include "hemstitch/pages.hpp"

#include <nanobind/stl/vector.h>
#include <sys/types.h>
#include <unistd.h>

#include <limits>

#include "keywords.hpp"
#include "module.hpp"
#include "python_buffers.hpp"

namespace hemstitch::python {
namespace {

// A child of fork() may destroy its parent's stores and call nothing else of them (pages.hpp).
class KeptPages {
 public:
  explicit KeptPages(const PageStoreOptions& options) : store_(options) {}

  PageStore& here() {
    if (::getpid() != made_by_)
      throw Error(Status::kWrongState, "the store is the parent process's; make one after fork()");
    return store_;
  }

 private:
  PageStore store_;
  pid_t made_by_ = ::getpid();
};

void make_store(KeptPages* self, const nb::kwargs& given) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  PageStoreOptions options;
  read_keywords(given, [&](const Keyword& keyword) {
    const std::string_view name = keyword.name();
    if (name == "page_bytes")
      options.batch.page_bytes = keyword.number<std::uint32_t>(0, UINT32_MAX);
    else if (name == "level")
      options.batch.level = keyword.value().is_none() ? options.batch.level : level_of(keyword.value());
    else if (name == "backend")
      options.batch.backend = keyword.text();
    else if (name == "device")
      options.batch.device = keyword.text();
    else if (name == "threads")
      options.batch.threads = threads_of(keyword.value());
    else if (name == "page_count")
      options.page_count = keyword.number<std::uint64_t>(0, kMost);
    else if (name == "budget_bytes")
      options.budget_bytes = keyword.number<std::uint64_t>(0, kMost);
    else if (name == "checksums")
      options.checksums = keyword.flag();
    else if (name == "lock_memory")
      options.lock_memory = keyword.flag();
    else if (name == "prefault")
      options.prefault = keyword.flag();
    else
      return false;
    return true;
  });
  const WorkingPlace place = working_place(options.batch.backend, options.batch.threads);
  options.batch.backend = place.backend;
  options.batch.threads = place.threads;
  const nb::gil_scoped_release released;
  new (self) KeptPages(options);
}

void put(KeptPages& self, std::uint64_t number, nb::object page) {
  const Buffer buffer(page);
  PageStore& store = self.here();
  const nb::gil_scoped_release released;
  store.put(number, buffer.bytes());
}

// A page, or None.
nb::object get(KeptPages& self, std::uint64_t number) {
  PageStore& store = self.here();
  BytesResult page(store.page_bytes());
  bool found = false;
  {
    const nb::gil_scoped_release released;
    found = store.get(number, page.room());
  }
  if (!found) return nb::none();
  return page.take(store.page_bytes());
}

bool get_into(KeptPages& self, std::uint64_t number, nb::object out) {
  const Buffer room(out, Buffer::Use::kWrite);
  PageStore& store = self.here();
  const nb::gil_scoped_release released;
  return store.get(number, room.room());
}

void put_many(KeptPages& self, const std::vector<std::uint64_t>& numbers, nb::object pages) {
  const Buffer buffer(pages);
  PageStore& store = self.here();
  const nb::gil_scoped_release released;
  store.put_many(numbers, buffer.bytes());
}

nb::object get_many(KeptPages& self, const std::vector<std::uint64_t>& numbers) {
  PageStore& store = self.here();
  const std::size_t bytes = numbers.size() * store.page_bytes();
  BytesResult pages(bytes);
  {
    const nb::gil_scoped_release released;
    store.get_many(numbers, pages.room().first(bytes));
  }
  return pages.take(bytes);
}

std::uint64_t get_many_into(KeptPages& self, const std::vector<std::uint64_t>& numbers, nb::object out) {
  const Buffer room(out, Buffer::Use::kWrite);
  PageStore& store = self.here();
  const nb::gil_scoped_release released;
  return store.get_many(numbers, room.room());
}

nb::dict statistics_of(KeptPages& self) {
  const PageStoreStatistics all = self.here().statistics();
  nb::dict named;
  named["pages"] = all.pages;
  named["same_filled"] = all.same_filled;
  named["compressed"] = all.compressed;
  named["raw"] = all.raw;
  named["kept_bytes"] = all.kept_bytes;
  named["slot_bytes"] = all.slot_bytes;
  named["used_slot_bytes"] = all.used_slot_bytes;
  named["bookkeeping_bytes"] = all.bookkeeping_bytes;
  named["memory_bytes"] = all.memory_bytes;
  named["puts"] = all.puts;
  named["gets"] = all.gets;
  named["misses"] = all.misses;
  named["discards"] = all.discards;
  named["refused"] = all.refused;
  named["moved_pages"] = all.moved_pages;
  named["failed_pages"] = all.failed_pages;
  named["fallback_pages"] = all.fallback_pages;
  return named;
}

}  // namespace

void add_pages(nb::module_& module) {
  using namespace nb::literals;
  using Released = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<KeptPages>(module, "PageStore")
      .def("__init__", make_store, "options"_a)
      .def("put", put, "number"_a, "page"_a)
      .def("get", get, "number"_a)
      .def("get_into", get_into, "number"_a, "out"_a)
      .def("put_many", put_many, "numbers"_a, "pages"_a)
      .def("get_many", get_many, "numbers"_a)
      .def("get_many_into", get_many_into, "numbers"_a, "out"_a)
      .def(
          "contains", [](KeptPages& self, std::uint64_t number) { return self.here().contains(number); },
          "number"_a)
      .def(
          "discard", [](KeptPages& self, std::uint64_t number) { return self.here().discard(number); },
          "number"_a, Released())
      .def(
          "discard_range",
          [](KeptPages& self, std::uint64_t first, std::uint64_t count) {
            return self.here().discard_range(first, count);
          },
          "first"_a, "count"_a, Released())
      .def(
          "numbers", [](KeptPages& self) { return self.here().numbers(); }, Released())
      .def(
          "save", [](KeptPages& self, const std::string& path) { self.here().save(path); }, "path"_a,
          Released())
      .def(
          "load", [](KeptPages& self, const std::string& path) { self.here().load(path); }, "path"_a,
          Released())
      .def(
          "compact", [](KeptPages& self) { self.here().compact(); }, Released())
      .def("statistics", statistics_of)
      .def_prop_ro("page_bytes", [](KeptPages& self) { return self.here().page_bytes(); });
}

}  // namespace hemstitch::python
