// compress() and restore(): one buffer in, one out.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "hemstitch/batch.h"
#include "hemstitch/ranges.hpp"
#include "module.hpp"
#include "python_buffers.hpp"
#include "signals.hpp"

namespace hemstitch::python {
namespace {

// If the size of the restored content is unknown, it is guessed as so many times the input's: room that is
// not written to costs nothing.
constexpr std::size_t kGuessedRatio = 4;
// A frame may state more than it holds, so its size is believed up to this ratio.
constexpr std::size_t kBelievedRatio = 16;

// How much room to make for what `input` restores to. Exact if a frame of LZ4 states its size: with the
// stable ABI, bytes in a room of another size must be copied.
std::size_t likely_content_bytes(std::span<const std::byte> input) {
  hemstitch_lz4_frame frame{};
  const bool is_known = hemstitch_lz4_frame_read_header(input.data(), input.size(), &frame) == HEMSTITCH_OK &&
                        frame.content_bytes_known != 0 &&
                        frame.content_bytes <= kBelievedRatio * input.size();
  return is_known ? static_cast<std::size_t>(frame.content_bytes) : kGuessedRatio * input.size();
}

// Objects without the buffer protocol hold memory of a device or of another library. hemstitch._device
// handles them.
nb::object device_call(const char* name) { return nb::module_::import_("hemstitch._device").attr(name); }

void refuse_dictionary(const nb::object& dictionary) {
  if (!dictionary.is_none())
    throw Error(Status::kInvalidOption,
                "a dictionary is for data in the host's memory, not for that of a device");
}

nb::object compress_object(nb::object data, const std::string& format, std::optional<int> level,
                           const std::string& backend, unsigned threads, std::size_t block_bytes,
                           bool content_checksum, nb::object dictionary, std::size_t seekable_bytes,
                           int window_log, nb::object out, nb::object stream, nb::object progress) {
  if (!gives_buffer(data)) {
    refuse_dictionary(dictionary);
    return device_call("compress")(
        data, nb::arg("format") = format, nb::arg("level") = level, nb::arg("backend") = backend,
        nb::arg("threads") = threads, nb::arg("block_bytes") = block_bytes,
        nb::arg("content_checksum") = content_checksum, nb::arg("seekable_bytes") = seekable_bytes,
        nb::arg("window_log") = window_log, nb::arg("out") = out, nb::arg("stream") = stream,
        nb::arg("progress") = progress);
  }
  CompressOptions options = compress_options(format, level, backend, threads, block_bytes, content_checksum,
                                             seekable_bytes, window_log);
  const std::optional<Buffer> kept = take_dictionary(dictionary, options);
  const Progress told = progress_of(std::move(progress));
  const Buffer input(data);
  const auto run = [&](std::span<std::byte> room) {
    return interruptible(options, [&](const CompressOptions& watched) {
      return compress_into(input.bytes(), room, watched, told);
    });
  };
  if (!out.is_none()) {
    const Buffer output(out, Buffer::Use::kWrite);
    return nb::int_(run(output.room()));
  }
  BytesResult result(compress_bound(input.bytes().size(), options.format));
  return result.take(run(result.room()));
}

nb::object restore_object(nb::object data, const std::string& format, const std::string& backend,
                          unsigned threads, nb::object dictionary, int window_log, nb::object device,
                          nb::object out, nb::object stream, nb::object progress, bool return_used_bytes) {
  if (!device.is_none() || !gives_buffer(data) || (!out.is_none() && !gives_buffer(out))) {
    refuse_dictionary(dictionary);
    return device_call("restore")(data, nb::arg("format") = format, nb::arg("backend") = backend,
                                  nb::arg("threads") = threads, nb::arg("window_log") = window_log,
                                  nb::arg("device") = device, nb::arg("out") = out,
                                  nb::arg("stream") = stream, nb::arg("progress") = progress,
                                  nb::arg("return_used_bytes") = return_used_bytes);
  }
  RestoreOptions options = restore_options(format, backend, threads, window_log);
  const std::optional<Buffer> kept = take_dictionary(dictionary, options);
  std::uint64_t used_bytes = 0;
  if (return_used_bytes) options.used_bytes = &used_bytes;
  const auto with_used_bytes = [&](const nb::object& result) -> nb::object {
    return return_used_bytes ? nb::make_tuple(result, used_bytes) : result;
  };
  const Progress told = progress_of(std::move(progress));
  const Buffer input(data);
  if (!out.is_none()) {
    const Buffer output(out, Buffer::Use::kWrite);
    return with_used_bytes(nb::int_(interruptible(options, [&](const RestoreOptions& watched) {
      return restore_into(input.bytes(), output.room(), watched, told);
    })));
  }
  BytesResult result(likely_content_bytes(input.bytes()));
  interruptible(options, [&](const RestoreOptions& watched) {
    restore_to(
        input.bytes(), [&](std::span<const std::byte> piece) { result.append(piece); }, watched, told);
  });
  return with_used_bytes(result.take(result.used_bytes()));
}

std::uint64_t restored_size(nb::object data) {
  const Buffer input(data);
  return interruptible(RestoreOptions{},
                       [&](const RestoreOptions& watched) { return restored_bytes(input.bytes(), watched); });
}

nb::object restore_ranges_of(nb::object data,
                             const std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges,
                             const std::string& backend, unsigned threads, nb::object index,
                             bool return_used_bytes) {
  RestoreOptions options = restore_options("auto", backend, threads);
  std::uint64_t used_bytes = 0;
  if (return_used_bytes) options.used_bytes = &used_bytes;
  std::optional<Buffer> index_bytes;
  if (!index.is_none()) options.index = index_bytes.emplace(index).bytes();
  std::vector<ContentBytes> wanted;
  for (const auto& [begin, end] : ranges) wanted.push_back({begin, end});
  const Buffer input(data);
  const std::vector<RestoredRange> restored = interruptible(
      options, [&](const RestoreOptions& watched) { return restore_ranges(input.bytes(), wanted, watched); });
  nb::list results;
  for (std::size_t i = 0; i < restored.size(); ++i) {
    const RestoredRange& range = restored[i];
    const auto message = [&] {
      return Error(range.status,
                   "range " + std::to_string(i) + ", " + std::to_string(wanted[i].begin) + "-" +
                       std::to_string(wanted[i].end) + ", cannot be restored",
                   range.place);
    };
    results.append(range.status == Status::kOk ? nb::object(bytes_of(range.bytes))
                                               : error_object(range.status, message().what(), range.place));
  }
  if (return_used_bytes) return nb::make_tuple(results, used_bytes);
  return results;
}

// Ranges of one input, whose table of blocks is kept. Several threads may call it at once.
class RangeReaderOf {
 public:
  RangeReaderOf(nb::object data, const RestoreOptions& options, nb::object index) : input_(data) {
    RestoreOptions watched = options;
    if (!index.is_none()) watched.index = index_.emplace(index).bytes();
    watched.between_pieces = Signals::between_pieces_of_this_thread();
    Signals signals;
    signals.watch([&] { reader_.emplace(input_.bytes(), watched); });
  }

  std::uint64_t size() const { return reader_->content_bytes(); }

  // Content[begin:end], shorter if the content ends before.
  nb::bytes read(std::uint64_t begin, std::uint64_t end) const {
    const std::uint64_t to = std::min(end, size());
    BytesResult result(begin < to ? static_cast<std::size_t>(to - begin) : 0);
    Signals signals;
    return result.take(signals.watch([&] { return reader_->read(begin, result.room()); }));
  }

 private:
  Buffer input_;
  std::optional<Buffer> index_;
  std::optional<RangeReader> reader_;
};

nb::bytes make_index_of(nb::object data, unsigned threads) {
  const RestoreOptions options = restore_options("auto", "cpu", threads);
  const Buffer input(data);
  const std::vector<std::byte> index = interruptible(
      options, [&](const RestoreOptions& watched) { return make_index(input.bytes(), watched); });
  return bytes_of(index);
}

}  // namespace

void add_calls(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "compress", compress_object, "data"_a.none(), nb::kw_only(), "format"_a = "lz4", "level"_a = nb::none(),
      "backend"_a = "auto", "threads"_a = 0, "block_bytes"_a = 0, "content_checksum"_a = false,
      "dictionary"_a = nb::none(), "seekable_bytes"_a = 0, "window_log"_a = 0, "out"_a = nb::none(),
      "stream"_a = nb::none(), "progress"_a = nb::none(),
      "Compresses an object's bytes into one frame. Returns bytes, or how many bytes of `out`, a "
      "writable buffer, the frame fills; for an array on a CUDA device a DeviceArray, made there on "
      "`stream`.\n\n"
      "format: lz4, gzip, bgzf, zlib, deflate or zstd. level: 1 to 12, zstd -7 to 22, None for the format's "
      "default. "
      "backend: auto, reproducible, cpu, "
      "reference, cuda or webgpu. threads: 0 for one per core. block_bytes: for LZ4, 64K, 256K, 1M or "
      "4M; 0 for the default. dictionary: bytes that the content may refer to (LZ4, zlib, Zstandard); "
      "restore() "
      "needs the same. "
      "seekable_bytes: for zstd, how much content each frame of a seekable file has, 64 KB to 64 MB; 0 for "
      "one frame. "
      "window_log: for zstd, a window of 2^N bytes, 10 to 31, and a search for long matches in it; 0 for the "
      "usual "
      "window. "
      "progress(input_bytes, output_bytes) is called after each piece; an exception in it ends the call. "
      "Raises hemstitch.Error.");
  module.def(
      "restore", restore_object, "data"_a.none(), nb::kw_only(), "format"_a = "auto", "backend"_a = "auto",
      "threads"_a = 0, "dictionary"_a = nb::none(), "window_log"_a = 0, "device"_a = nb::none(),
      "out"_a = nb::none(), "stream"_a = nb::none(), "progress"_a = nb::none(), "return_used_bytes"_a = false,
      "Restores all frames of an object's bytes. Returns bytes, how many bytes of `out` they fill, "
      "or with device='cuda' a DeviceArray.\n\n"
      "format 'auto' recognises lz4, gzip, bgzf and zstd by their first bytes; zlib and deflate must be "
      "named. window_log: zstd's windows of more than 128 MB are refused unless this, N of 2^N bytes, allows "
      "them. "
      "With return_used_bytes the result is a pair: what is said above, and where the last frame "
      "ends; "
      "what follows there is no error then. Raises hemstitch.Error, which says where the data is damaged.");
  module.def("restored_size", restored_size, "data"_a,
             "The size of the result of restore(), found without writing it (LZ4, gzip, BGZF).");
  module.def(
      "compress_bound",
      [](std::uint64_t size, const std::string& format) {
        return compress_bound(size, format_of(format).value_or(Format::kLz4));
      },
      "size"_a, "format"_a = "lz4", "The most bytes that compress() returns for `size` bytes.");
  module.def("restore_ranges", restore_ranges_of, "data"_a, "ranges"_a, nb::kw_only(), "backend"_a = "auto",
             "threads"_a = 0, "index"_a = nb::none(), "return_used_bytes"_a = false);
  nb::class_<RangeReaderOf>(module, "RangeReader")
      .def(
          "__init__",
          [](RangeReaderOf* self, nb::object data, const std::string& format, const std::string& backend,
             unsigned threads, nb::object index) {
            new (self) RangeReaderOf(data, restore_options(format, backend, threads), index);
          },
          "data"_a, nb::kw_only(), "format"_a = "auto", "backend"_a = "auto", "threads"_a = 0,
          "index"_a = nb::none())
      .def("read", &RangeReaderOf::read, "begin"_a, "end"_a)
      .def_prop_ro("size", &RangeReaderOf::size);
  module.def("make_index", make_index_of, "data"_a, nb::kw_only(), "threads"_a = 0,
             "Makes a .gzidx of gzip data, as indexed_gzip and rapidgzip read and write it: places where "
             "open(.., index=..) and restore_ranges(.., index=..) can begin. Restores all of the data.");
}

}  // namespace hemstitch::python
