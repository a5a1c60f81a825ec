#include "module.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>
#include <pthread.h>

#include <atomic>
#include <utility>
#include <vector>

namespace hemstitch::python {
namespace {

std::atomic<bool> worked = false;    // in this process, or in the one that it was forked from
std::atomic<bool> orphaned = false;  // whether this process was forked from one that had worked

void after_fork() { orphaned = worked.load(); }

nb::handle error_class;  // hemstitch.Error; the module keeps it alive

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    PyErr_SetObject(error_class.ptr(), error_object(error.status(), error.what(), error.place()).ptr());
  }
}

}  // namespace

std::optional<Format> format_of(std::string_view name) {
  if (name == "auto") return std::nullopt;
  std::string known;
  for (const FormatName& format : format_names()) {
    if (format.name == name) return format.format;
    known += (known.empty() ? "" : ", ") + std::string(format.name);
  }
  throw Error(Status::kInvalidOption, "format is '" + std::string(name) + "'; it may be " + known);
}

WorkingPlace working_place(std::string_view backend, unsigned threads) {
  if (!orphaned) {
    worked = true;
    return {std::string(backend), threads};
  }
  if (backend == "cuda" || backend == "webgpu")
    throw Error(Status::kDeviceUnavailable,
                "this process was forked from one that had used Hemstitch, and a device's driver does not "
                "survive that; use "
                "the backend 'cpu' here, or start processes by multiprocessing's 'spawn'");
  return {backend == "auto" ? "cpu" : std::string(backend), 1};
}

Progress progress_of(nb::object callable) {
  if (callable.is_none()) return {};
  // The library may call and release it on any thread, so both take the GIL.
  const std::shared_ptr<nb::object> shared(new nb::object(std::move(callable)), [](nb::object* object) {
    const nb::gil_scoped_acquire gil;
    delete object;
  });
  return [shared](std::uint64_t input_bytes, std::uint64_t output_bytes) {
    const nb::gil_scoped_acquire gil;
    (*shared)(input_bytes, output_bytes);
  };
}

nb::object error_object(Status status, const std::string& message, const Place& place) {
  return error_class(static_cast<int>(status), message, place.frame, place.block, place.byte_offset);
}

}  // namespace hemstitch::python

NB_MODULE(_core, module) {
  using namespace hemstitch::python;
  module.doc() = "Hemstitch's C++ library; use the names that the package `hemstitch` gives.";
  module.attr("version") = HEMSTITCH_VERSION_STRING;
  module.attr("Error") = nb::module_::import_("hemstitch._errors").attr("Error");
  error_class = module.attr("Error");
  error_class.inc_ref();
  nb::register_exception_translator(translate);
  pthread_atfork(nullptr, nullptr, after_fork);
  module.def(
      "status_text",
      [](int status) { return hemstitch::status_text(static_cast<hemstitch::Status>(status)); },
      nb::arg("status"));
  module.def(
      "suffixes",
      [] {
        std::vector<std::pair<std::string, std::string>> suffixes;
        for (const hemstitch::FormatName& format : hemstitch::format_names())
          if (!format.suffix.empty()) suffixes.emplace_back(format.suffix, format.name);
        return suffixes;
      },
      "The suffixes of compressed files, each with the name of its format; of two formats with one suffix "
      "the usual one "
      "is first.");
  add_calls(module);
  add_many(module);
  add_chunks(module);
  add_streams(module);
  add_device(module);
  add_device_batch(module);
  add_search(module);
  add_matcher(module);
  add_pages(module);
}
