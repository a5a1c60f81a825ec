// Streams that are pushed, as the base of hemstitch.open().
#include "module.hpp"
#include "python_buffers.hpp"

namespace hemstitch::python {
namespace {

// A Compressor or Decompressor that keeps its output until the caller takes it.
template <class Stream, class Options>
class PushedStream {
 public:
  explicit PushedStream(const Options& options)
      : stream_(options, [this](std::span<const std::byte> piece) {
          output_.insert(output_.end(), piece.begin(), piece.end());
        }) {}

  nb::bytes write(nb::object data) {
    const Buffer input(data);
    return run([&] { stream_.write(input.bytes()); });
  }
  nb::bytes finish() {
    return run([&] { stream_.finish(); });
  }

 private:
  template <class Call>
  nb::bytes run(const Call& call) {
    // The GIL is released during the work, so another thread may call.
    if (busy_) throw Error(Status::kWrongState, "another thread is using this stream");
    const Busy busy(busy_);
    output_.clear();
    {
      const nb::gil_scoped_release released;
      call();
    }
    return bytes_of(output_);
  }

  // The flag is set and cleared with the GIL held.
  struct Busy {
    explicit Busy(bool& busy) : flag(busy) { flag = true; }
    ~Busy() { flag = false; }
    bool& flag;
  };

  bool busy_ = false;
  std::vector<std::byte> output_;
  Stream stream_;
};

using CompressStream = PushedStream<Compressor, CompressOptions>;
using RestoreStream = PushedStream<Decompressor, RestoreOptions>;

}  // namespace

void add_streams(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<CompressStream>(module, "CompressStream")
      .def(
          "__init__",
          [](CompressStream* self, const std::string& format, std::optional<int> level,
             const std::string& backend, unsigned threads, std::size_t block_bytes, bool content_checksum) {
            new (self) CompressStream(
                compress_options(format, level, backend, threads, block_bytes, content_checksum));
          },
          nb::kw_only(), "format"_a = "lz4", "level"_a = nb::none(), "backend"_a = "auto", "threads"_a = 0,
          "block_bytes"_a = 0, "content_checksum"_a = false)
      .def("write", &CompressStream::write, "data"_a)
      .def("finish", &CompressStream::finish);
  nb::class_<RestoreStream>(module, "RestoreStream")
      .def(
          "__init__",
          [](RestoreStream* self, const std::string& format, const std::string& backend, unsigned threads) {
            new (self) RestoreStream(restore_options(format, backend, threads));
          },
          nb::kw_only(), "format"_a = "auto", "backend"_a = "auto", "threads"_a = 0)
      .def("write", &RestoreStream::write, "data"_a)
      .def("finish", &RestoreStream::finish);
}

}  // namespace hemstitch::python
