// Files and the memory of a CUDA device. The package's Python code reads the interfaces of arrays; the
// functions here take addresses.
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "hemstitch/files.hpp"
#include "keywords.hpp"
#include "module.hpp"

namespace hemstitch::python {
namespace {

// A cudaStream_t as Python's libraries pass it: its address, or 0 for the default stream.
CUstream_st* stream_of(std::uintptr_t stream) { return reinterpret_cast<CUstream_st*>(stream); }

std::vector<DeviceContent> load(const std::vector<std::string>& paths, int device, nb::object threads,
                                nb::object verify_checksums, std::uintptr_t stream) {
  FrameLoadOptions options;
  options.verify_checksums = Keyword("verify_checksums", verify_checksums).flag();
  options.threads = working_place("cuda", threads_of(threads)).threads;
  options.device = std::to_string(device);
  options.stream = stream_of(stream);
  const nb::gil_scoped_release released;
  return load_frames(paths, options);
}

std::uint64_t save(std::uintptr_t address, std::size_t bytes, const std::string& path, nb::object format,
                   nb::object level, nb::object block_bytes, nb::object threads, std::uintptr_t stream) {
  FrameSaveOptions options;
  if (const std::optional<Format> given = format_of(Keyword("format", format).text()))
    options.format = *given;
  options.level = level_of(level);
  options.block_bytes = Keyword("block_bytes", block_bytes).number<std::size_t>(0, PY_SSIZE_T_MAX);
  options.threads = working_place("cuda", threads_of(threads)).threads;
  options.stream = stream_of(stream);
  const nb::gil_scoped_release released;
  return save_frame({reinterpret_cast<const std::byte*>(address), bytes}, path, options);
}

// The memory of an object with DLPack: address, size, device. The last element of the tuple keeps it alive.
nb::tuple dlpack_span(nb::ndarray<nb::ro, nb::c_contig> array) {
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), array.nbytes(), array.device_type(),
                        array.device_id(), nb::cast(array, nb::rv_policy::reference));
}

// A DLPack capsule over memory that `owner` keeps alive: elements of DLPack's type (code, bits) in C order.
nb::object dlpack_capsule(std::uintptr_t address, const std::vector<std::size_t>& shape, std::uint8_t code,
                          std::uint8_t bits, int device, nb::object owner) {
  const nb::dlpack::dtype type{code, bits, 1};
  const nb::ndarray<> array(reinterpret_cast<void*>(address), shape.size(), shape.data(), owner, nullptr,
                            type, nb::device::cuda::value, device);
  return nb::cast(array);
}

}  // namespace

void add_device(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<DeviceContent>(module, "DeviceContent")
      .def_prop_ro(
          "address",
          [](const DeviceContent& content) { return reinterpret_cast<std::uintptr_t>(content.data()); })
      .def_prop_ro("bytes", &DeviceContent::bytes)
      .def_prop_ro("restored_on_device", &DeviceContent::restored_on_device);
  module.def("load", load, "paths"_a, nb::kw_only(), "device"_a = 0, "threads"_a = 0,
             "verify_checksums"_a = true, "stream"_a = 0);
  module.def("save", save, "address"_a, "bytes"_a, "path"_a, nb::kw_only(), "format"_a = "lz4",
             "level"_a = nb::none(), "block_bytes"_a = 0, "threads"_a = 0, "stream"_a = 0);
  module.def("dlpack_span", dlpack_span, "array"_a);
  module.def("dlpack_capsule", dlpack_capsule, "address"_a, "shape"_a, "code"_a, "bits"_a, "device"_a,
             "owner"_a);
}

}  // namespace hemstitch::python
