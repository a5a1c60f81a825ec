// compress() and restore(): one buffer in, one out.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "hemstitch/batch.h"
#include "hemstitch/ranges.hpp"
#include "keywords.hpp"
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

// Calls compress() or restore() there.
nb::object call_for_device(const char* name, nb::object data, const nb::kwargs& given) {
  return device_call(name)(data, **given);
}

nb::object compress_object(nb::object data, const nb::kwargs& given) {
  if (!gives_buffer(data)) return call_for_device("compress", data, given);
  nb::object out = nb::none(), progress = nb::none();
  CompressCall call = compress_call(given, [&](const Keyword& keyword) {
    if (keyword.name() == "out") return out = nb::borrow(keyword.value()), true;
    if (keyword.name() == "progress") return progress = nb::borrow(keyword.value()), true;
    return keyword.name() == "stream";  // which only arrays on a device have
  });
  const Progress told = progress_of(std::move(progress));
  const Buffer input(data);
  const auto run = [&](std::span<std::byte> room) {
    return interruptible(call.options, [&](const CompressOptions& watched) {
      return compress_into(input.bytes(), room, watched, told);
    });
  };
  if (!out.is_none()) {
    const Buffer output(out, Buffer::Use::kWrite);
    return nb::int_(run(output.room()));
  }
  const std::size_t bytes = input.bytes().size();
  // What the bound leaves out (hemstitch.h).
  const std::size_t more_bytes = call.options.rsyncable || call.options.legacy ? bytes / 128 : 0;
  BytesResult result(compress_bound(bytes, call.options.format) + more_bytes);
  return result.take(run(result.room()));
}

nb::object restore_object(nb::object data, const nb::kwargs& given) {
  nb::object device = nb::none(), out = nb::none(), progress = nb::none();
  bool return_used_bytes = false;
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
  if (!gives_buffer(data)) return call_for_device("restore", data, given);
  RestoreCall call = restore_call(given, [&](const Keyword& keyword) {
    const std::string_view name = keyword.name();
    if (name == "device")
      device = nb::borrow(keyword.value());
    else if (name == "out")
      out = nb::borrow(keyword.value());
    else if (name == "progress")
      progress = nb::borrow(keyword.value());
    else if (name == "return_used_bytes")
      return_used_bytes = keyword.flag();
    else if (name == "max_bytes") {
      if (!keyword.value().is_none()) most_bytes = keyword.number<std::size_t>(0, PY_SSIZE_T_MAX);
    } else
      return name == "stream";  // which only arrays on a device have
    return true;
  });
  if (!device.is_none() || (!out.is_none() && !gives_buffer(out)))
    return call_for_device("restore", data, given);
  std::uint64_t used_bytes = 0;
  if (return_used_bytes) call.options.used_bytes = &used_bytes;
  const auto with_used_bytes = [&](const nb::object& result) -> nb::object {
    return return_used_bytes ? nb::make_tuple(result, used_bytes) : result;
  };
  const Progress told = progress_of(std::move(progress));
  const Buffer input(data);
  if (!out.is_none()) {
    const Buffer output(out, Buffer::Use::kWrite);
    return with_used_bytes(nb::int_(interruptible(call.options, [&](const RestoreOptions& watched) {
      return restore_into(input.bytes(), output.room().first(std::min(output.room().size(), most_bytes)),
                          watched, told);
    })));
  }
  BytesResult result(std::min(likely_content_bytes(input.bytes()), most_bytes));
  interruptible(call.options, [&](const RestoreOptions& watched) {
    restore_to(
        input.bytes(),
        [&](std::span<const std::byte> piece) {
          if (piece.size() > most_bytes - result.used_bytes())
            throw Error(Status::kOutputTooSmall, "the content has more than the " +
                                                     std::to_string(most_bytes) + " bytes of max_bytes");
          result.append(piece);
        },
        watched, told);
  });
  return with_used_bytes(result.take(result.used_bytes()));
}

std::uint64_t restored_size(nb::object data) {
  const Buffer input(data);
  return interruptible(RestoreOptions{},
                       [&](const RestoreOptions& watched) { return restored_bytes(input.bytes(), watched); });
}

std::vector<ContentBytes> ranges_of(nb::handle ranges) {
  std::vector<ContentBytes> wanted;
  for (const nb::handle range : nb::iter(ranges)) {
    const std::string name = "ranges[" + std::to_string(wanted.size()) + "]";
    if (PySequence_Check(range.ptr()) == 0 || PySequence_Size(range.ptr()) != 2) {
      PyErr_Clear();
      throw nb::type_error((name + " has to be a pair (begin, end)").c_str());
    }
    const auto number = [&](int i) {
      const nb::object value = range[i];
      return Keyword(name + "[" + std::to_string(i) + "]", value)
          .number<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max());
    };
    wanted.push_back({number(0), number(1)});
  }
  return wanted;
}

nb::object restore_ranges_of(nb::object data, nb::object ranges, const nb::kwargs& given) {
  std::optional<Buffer> index;
  bool return_used_bytes = false;
  RestoreCall call = restore_call(given, [&](const Keyword& keyword) {
    if (keyword.name() == "return_used_bytes")
      return_used_bytes = keyword.flag();
    else if (keyword.name() != "index")
      return false;
    else if (!keyword.value().is_none())
      index.emplace(keyword.buffer());
    return true;
  });
  RestoreOptions& options = call.options;
  if (index) options.index = index->bytes();
  std::uint64_t used_bytes = 0;
  if (return_used_bytes) options.used_bytes = &used_bytes;
  const std::vector<ContentBytes> wanted = ranges_of(ranges);
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

nb::bytes make_index_of(nb::object data, const nb::kwargs& given) {
  RestoreOptions options = restore_call(given).options;
  options.backend = "cpu";
  const Buffer input(data);
  const std::vector<std::byte> index = interruptible(
      options, [&](const RestoreOptions& watched) { return make_index(input.bytes(), watched); });
  return bytes_of(index);
}

}  // namespace

void add_calls(nb::module_& module) {
  using namespace nb::literals;
  module.def("compress", compress_object, "data"_a.none(), "options"_a);
  module.def("restore", restore_object, "data"_a.none(), "options"_a);
  module.def("restored_size", restored_size, "data"_a);
  module.def(
      "compress_bound",
      [](nb::object size, nb::object format) {
        return compress_bound(
            Keyword("size", size).number<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max()),
            format_of(Keyword("format", format).text()).value_or(Format::kLz4));
      },
      "size"_a, "format"_a = "lz4");
  module.def("restore_ranges", restore_ranges_of, "data"_a, "ranges"_a, "options"_a);
  nb::class_<RangeReaderOf>(module, "RangeReader")
      .def(
          "__init__",
          [](RangeReaderOf* self, nb::object data, nb::object index, const nb::kwargs& given) {
            new (self) RangeReaderOf(data, restore_call(given).options, index);
          },
          "data"_a, "index"_a.none(), "options"_a)
      .def("read", &RangeReaderOf::read, "begin"_a, "end"_a)
      .def_prop_ro("size", &RangeReaderOf::size);
  module.def("make_index", make_index_of, "data"_a, "options"_a);
}

}  // namespace hemstitch::python
