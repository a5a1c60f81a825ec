// Shared by the parts of the module: options from Python's names, and the process after a fork.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <string_view>

#include "hemstitch/hemstitch.hpp"
#include "hemstitch/memory.hpp"

namespace hemstitch::python {

namespace nb = nanobind;

// "lz4", "gzip", ...; nothing for "auto". Throws kInvalidOption with the names that exist.
std::optional<Format> format_of(std::string_view name);

// Where a call works. Also notes that this process has worked. In a child that was forked from a process that
// has worked, there are neither oneTBB's threads nor a device's driver. Then it uses one thread and the
// processor, and a device that is requested by name throws kDeviceUnavailable.
struct WorkingPlace {
  std::string backend;
  unsigned threads;
};
WorkingPlace working_place(std::string_view backend, unsigned threads);

// A callable for progress(input_bytes, output_bytes), or None.
Progress progress_of(nb::object callable);

// An instance of hemstitch.Error.
nb::object error_object(Status status, const std::string& message, const Place& place);

void add_calls(nb::module_& module);
void add_many(nb::module_& module);
void add_chunks(nb::module_& module);
void add_streams(nb::module_& module);
void add_device(nb::module_& module);
void add_device_batch(nb::module_& module);
void add_search(nb::module_& module);
void add_matcher(nb::module_& module);
void add_pages(nb::module_& module);

}  // namespace hemstitch::python
