// Implements reader.h with reader.hpp.
#include "api/c/c_options.hpp"
#include "hemstitch/reader.h"
#include "hemstitch/reader.hpp"

struct hemstitch_reader {
  hemstitch::Reader reader;
};

namespace hemstitch {
namespace {

template <class Make>
hemstitch_status open_reader(const hemstitch_restore_options* given, hemstitch_reader** reader,
                             const Make& make) {
  return guarded([&] {
    needed(reader, "reader");
    const auto all = sized(given, "options");
    refuse_watchers(all, "a reader has neither progress nor report");
    *reader = new hemstitch_reader{make(hemstitch::options_of(all))};
  });
}

}  // namespace
}  // namespace hemstitch

using namespace hemstitch;

extern "C" {

hemstitch_status hemstitch_reader_open_path(const hemstitch_restore_options* options, const char* path,
                                            hemstitch_reader** reader) {
  return open_reader(options, reader, [&](const RestoreOptions& all) {
    return Reader::open(std::string(needed(path, "path")), all);
  });
}

hemstitch_status hemstitch_reader_open_descriptor(const hemstitch_restore_options* options, int descriptor,
                                                  hemstitch_reader** reader) {
  return open_reader(options, reader,
                     [&](const RestoreOptions& all) { return Reader::open(descriptor, all); });
}

hemstitch_status hemstitch_reader_open_memory(const hemstitch_restore_options* options, const void* input,
                                              size_t input_bytes, hemstitch_reader** reader) {
  return open_reader(options, reader, [&](const RestoreOptions& all) {
    need_for(input_bytes, input, "input");
    return Reader(bytes_of(input, input_bytes), all);
  });
}

hemstitch_status hemstitch_reader_open_callback(const hemstitch_restore_options* options,
                                                hemstitch_read_next read, void* context,
                                                hemstitch_reader** reader) {
  return open_reader(options, reader, [&](const RestoreOptions& all) {
    needed(read, "read");
    const ReadNext call = [read, context](std::span<std::byte> into) {
      std::size_t read_bytes = 0;
      if (const int answer = read(context, into.data(), into.size(), &read_bytes); answer != 0)
        throw Error(Status::kReadFailed, fmt::format("the function for reading returned {}", answer));
      return read_bytes;
    };
    return Reader(call, all);
  });
}

hemstitch_status hemstitch_reader_read(hemstitch_reader* reader, void* output, size_t output_capacity,
                                       size_t* output_bytes) {
  return guarded([&] {
    need_for(output_capacity, output, "output");
    needed(output_bytes, "output_bytes");
    *output_bytes = needed(reader, "reader")->reader.read(room_of(output, output_capacity));
  });
}

hemstitch_status hemstitch_reader_seek(hemstitch_reader* reader, uint64_t at) {
  return guarded([&] { needed(reader, "reader")->reader.seek(at); });
}

hemstitch_status hemstitch_reader_tell(const hemstitch_reader* reader, uint64_t* at) {
  return guarded([&] { *needed(at, "at") = needed(reader, "reader")->reader.tell(); });
}

void hemstitch_reader_close(hemstitch_reader* reader) { delete reader; }

}  // extern "C"
