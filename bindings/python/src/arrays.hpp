// Results as arrays of numbers: numpy's, or a memoryview where numpy is not installed.
#pragma once

#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "python_buffers.hpp"

namespace hemstitch::python {

inline bool has_numpy() {
  try {
    nb::module_::import_("numpy");
    return true;
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    return false;
  }
}

// `Shown`: the type of the array's numbers, if the elements are several of them.
template <class Element, class Shown = Element>
nb::object array_of(std::vector<Element> elements) {
  static_assert(sizeof(Element) % sizeof(Shown) == 0 && std::is_unsigned_v<Shown>);
  const std::size_t count = elements.size() * (sizeof(Element) / sizeof(Shown));
  if (!has_numpy()) {
    constexpr const char* kFormat = sizeof(Shown) == 8 ? "Q" : sizeof(Shown) == 4 ? "I" : "B";
    const nb::bytes bytes(elements.data(), count * sizeof(Shown));
    return nb::module_::import_("builtins").attr("memoryview")(bytes).attr("cast")(kFormat);
  }
  auto* const kept = new std::vector<Element>(std::move(elements));
  const nb::capsule owner(kept,
                          [](void* memory) noexcept { delete static_cast<std::vector<Element>*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, Shown, nb::ndim<1>>(kept->data(), {count}, owner));
}

}  // namespace hemstitch::python
