// Python's memory as spans, and results that are written directly into Python objects.
#pragma once

#include <nanobind/nanobind.h>
#ifdef Py_LIMITED_API
#include <dlfcn.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hemstitch::python {

namespace nb = nanobind;

// Whether an object offers its bytes by the buffer protocol. CuPy's arrays have the protocol but refuse it,
// since they are in device memory.
inline bool gives_buffer(nb::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  return PyBytes_Check(object.ptr()) || PyByteArray_Check(object.ptr()) || PyMemoryView_Check(object.ptr()) ||
         PyObject_HasAttrString(object.ptr(), "__cuda_array_interface__") == 0;
}

// The bytes of an object with the buffer protocol, as long as this lives. Construct and destroy it with the
// GIL.
class Buffer {
 public:
  enum class Use { kRead, kWrite };

  explicit Buffer(nb::handle object, Use use = Use::kRead) {
    if (PyObject_CheckBuffer(object.ptr()) == 0)
      throw nb::type_error(
          ("expected an object with the buffer protocol (bytes, memoryview, a numpy array), not " +
           std::string(nb::type_name(object.type()).c_str()))
              .c_str());
    const int flags = use == Use::kWrite ? PyBUF_CONTIG : PyBUF_CONTIG_RO;
    // Some types have no word for their format, but give their bytes.
    if (PyObject_GetBuffer(object.ptr(), &view_, flags | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) refuse(use);
    }
    if (view_.format == nullptr || !has_objects(view_.format)) return;
    PyBuffer_Release(&view_);
    throw nb::type_error(
        "the buffer holds references to Python's objects, which mean nothing elsewhere or later; convert it "
        "to numbers or strings first (x.astype(float)), or pickle it");
  }
  Buffer(Buffer&& other) noexcept : view_(std::exchange(other.view_, Py_buffer{})) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }

  std::span<const std::byte> bytes() const { return room(); }
  std::span<std::byte> room() const {
    return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  [[noreturn]] static void refuse(Use use) {
    PyErr_Clear();
    if (use == Use::kWrite)
      throw nb::buffer_error(
          "`out` has to be writable and contiguous, e.g. a bytearray or numpy.empty(n, 'u1')");
    throw nb::buffer_error(
        "the buffer's bytes are not one piece of memory in C order; pass a copy that is: "
        "numpy.ascontiguousarray(x), or bytes(x)");
  }

  // Whether a format of PEP 3118 has elements that are references ("O"). Names stand between colons.
  static bool has_objects(const char* format) {
    bool in_name = false;
    for (; *format != '\0'; ++format) {
      if (*format == ':') in_name = !in_name;
      if (*format == 'O' && !in_name) return true;
    }
    return false;
  }

  Py_buffer view_{};
};

// Those of many objects.
inline std::vector<Buffer> buffers_of(nb::handle objects, Buffer::Use use = Buffer::Use::kRead) {
  std::vector<Buffer> buffers;
  for (const nb::handle object : nb::iter(objects)) buffers.emplace_back(object, use);
  return buffers;
}

inline std::vector<std::span<const std::byte>> spans_of(const std::vector<Buffer>& buffers) {
  std::vector<std::span<const std::byte>> spans;
  spans.reserve(buffers.size());
  for (const Buffer& buffer : buffers) spans.push_back(buffer.bytes());
  return spans;
}

// A bytes object that is written before anybody else sees it. A large one grows by moving pages, not by
// copying them.
class BytesResult {
 public:
  // All functions need the GIL, except room(), and append() if it need not grow.
  explicit BytesResult(std::size_t bytes) : object_(PyBytes_FromStringAndSize(nullptr, signed_size(bytes))) {
    if (object_ == nullptr) nb::raise_python_error();
    find_room();
  }
  BytesResult(const BytesResult&) = delete;
  BytesResult& operator=(const BytesResult&) = delete;
  ~BytesResult() { Py_XDECREF(object_); }

  std::span<std::byte> room() const { return {data_, room_bytes_}; }

  // Without the GIL, which it takes in order to grow.
  void append(std::span<const std::byte> piece) {
    if (piece.size() > room_bytes_ - used_bytes_) {
      const nb::gil_scoped_acquire gil;
      resize(std::max(2 * room_bytes_, used_bytes_ + piece.size()));
    }
    std::memcpy(data_ + used_bytes_, piece.data(), piece.size());
    used_bytes_ += piece.size();
  }
  std::size_t used_bytes() const { return used_bytes_; }
  void grow(std::size_t most_bytes = PY_SSIZE_T_MAX) { resize(std::min(2 * room_bytes_, most_bytes)); }

  // The object, with only its first `bytes` bytes.
  nb::bytes take(std::size_t bytes) {
    if (bytes != room_bytes_) resize(bytes);
    return nb::steal<nb::bytes>(std::exchange(object_, nullptr));
  }

 private:
  static Py_ssize_t signed_size(std::size_t bytes) {
    if (bytes > static_cast<std::size_t>(PY_SSIZE_T_MAX)) throw std::bad_alloc();
    return static_cast<Py_ssize_t>(bytes);
  }
  void resize(std::size_t bytes) {
#ifdef Py_LIMITED_API
    // _PyBytes_Resize(), which moves pages rather than bytes, is documented, and not part of the stable ABI: it is looked up, and done without in a
    // Python that lacks it.
    using Resize = int (*)(PyObject**, Py_ssize_t);
    static const auto in_place = reinterpret_cast<Resize>(::dlsym(RTLD_DEFAULT, "_PyBytes_Resize"));
    if (in_place != nullptr) {
      if (in_place(&object_, signed_size(bytes)) != 0) nb::raise_python_error();
      find_room();
      return;
    }
    PyObject* const other = PyBytes_FromStringAndSize(nullptr, signed_size(bytes));
    if (other == nullptr) nb::raise_python_error();
    if (const std::size_t kept = std::min(bytes, room_bytes_); kept != 0)
      std::memcpy(PyBytes_AsString(other), data_, kept);
    Py_DECREF(std::exchange(object_, other));
#else
    // Leaves NULL and an exception if there is no memory.
    if (_PyBytes_Resize(&object_, signed_size(bytes)) != 0) nb::raise_python_error();
#endif
    find_room();
  }
  void find_room() {
    data_ = reinterpret_cast<std::byte*>(PyBytes_AsString(object_));
    room_bytes_ = static_cast<std::size_t>(PyBytes_Size(object_));
  }

  PyObject* object_;
  std::byte* data_ = nullptr;
  std::size_t room_bytes_ = 0;
  std::size_t used_bytes_ = 0;
};

inline nb::bytes bytes_of(std::span<const std::byte> bytes) { return nb::bytes(bytes.data(), bytes.size()); }

}  // namespace hemstitch::python
