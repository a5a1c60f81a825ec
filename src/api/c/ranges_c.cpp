// Implements hemstitch_restore_ranges() and ranges.h with ranges.hpp.
#include <algorithm>
#include <vector>

#include "api/c/c_options.hpp"
#include "core/overlap.hpp"
#include "hemstitch/ranges.h"
#include "hemstitch/ranges.hpp"

struct hemstitch_range_reader {
  hemstitch::RangeReader reader;
  std::span<const std::byte> memory;  // the input, if it is in memory
};

namespace hemstitch {
namespace {

RestoreOptions options_of_ranges(const hemstitch_restore_options* given) {
  const auto all = sized(given, "options");
  refuse_watchers(all, kNoWatchersOfRanges);
  return hemstitch::options_of(all);
}

std::span<hemstitch_range> checked_ranges(std::span<const std::byte> input, hemstitch_range* ranges,
                                          std::size_t count) {
  need_for(count, ranges, "ranges");
  std::vector<std::span<const std::byte>> outputs;
  for (const hemstitch_range& range : std::span(ranges, count)) {
    need_for(range.output_capacity, range.output, "a range's output");
    outputs.push_back(bytes_of(range.output, range.output_capacity));
  }
  refuse_overlaps({&input, 1}, outputs);
  return {ranges, count};
}

void restore_ranges_of_c(const RangeReader& reader, std::span<hemstitch_range> ranges) {
  std::vector<ContentBytes> wanted;
  for (const hemstitch_range& range : ranges) wanted.push_back({range.begin, range.end});
  const std::vector<RestoredRange> restored = reader.restore(wanted);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::vector<std::byte>& bytes = restored[i].bytes;
    const bool fits = bytes.size() <= ranges[i].output_capacity;
    if (fits) std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(ranges[i].output));
    ranges[i].output_bytes = fits ? bytes.size() : 0;
    ranges[i].status = static_cast<hemstitch_status>(fits ? restored[i].status : Status::kOutputTooSmall);
    ranges[i].place = place_for_c(restored[i].place);
  }
}

void make_reader(hemstitch_range_reader** reader, RangeReader made, std::span<const std::byte> memory = {}) {
  *reader = new hemstitch_range_reader{std::move(made), memory};
}

}  // namespace
}  // namespace hemstitch

using namespace hemstitch;

extern "C" {

hemstitch_status hemstitch_restore_ranges(const hemstitch_restore_options* options, const void* input,
                                          size_t input_bytes, hemstitch_range* ranges, size_t count) {
  return guarded([&] {
    need_for(input_bytes, input, "input");
    const std::span<const std::byte> data = bytes_of(input, input_bytes);
    const auto checked = checked_ranges(data, ranges, count);
    restore_ranges_of_c(RangeReader(data, options_of_ranges(options)), checked);
  });
}

hemstitch_status hemstitch_range_reader_new(const hemstitch_restore_options* options, const void* input,
                                            size_t input_bytes, hemstitch_range_reader** reader) {
  return guarded([&] {
    need_for(input_bytes, input, "input");
    needed(reader, "reader");
    const std::span<const std::byte> data = bytes_of(input, input_bytes);
    make_reader(reader, RangeReader(data, options_of_ranges(options)), data);
  });
}

hemstitch_status hemstitch_range_reader_new_from(const hemstitch_restore_options* options,
                                                 hemstitch_read_at read, void* context, uint64_t input_bytes,
                                                 hemstitch_range_reader** reader) {
  return guarded([&] {
    needed(read, "read");
    needed(reader, "reader");
    const ReadAt call = [read, context](std::uint64_t at, std::span<std::byte> into) {
      size_t read_bytes = 0;
      if (const int answer = read(context, at, into.data(), into.size(), &read_bytes); answer != 0)
        throw Error(Status::kReadFailed, fmt::format("the function for reading returned {}", answer));
      return read_bytes;
    };
    make_reader(reader, RangeReader(call, input_bytes, options_of_ranges(options)));
  });
}

hemstitch_status hemstitch_range_reader_open(const hemstitch_restore_options* options, const char* path,
                                             hemstitch_range_reader** reader) {
  return guarded([&] {
    needed(path, "path");
    needed(reader, "reader");
    make_reader(reader, RangeReader::open(std::string(path), options_of_ranges(options)));
  });
}

hemstitch_status hemstitch_range_reader_open_descriptor(const hemstitch_restore_options* options,
                                                        int descriptor, hemstitch_range_reader** reader) {
  return guarded([&] {
    needed(reader, "reader");
    make_reader(reader, RangeReader::open(descriptor, options_of_ranges(options)));
  });
}

hemstitch_status hemstitch_range_reader_content_bytes(const hemstitch_range_reader* reader,
                                                      uint64_t* content_bytes) {
  return guarded(
      [&] { *needed(content_bytes, "content_bytes") = needed(reader, "reader")->reader.content_bytes(); });
}

hemstitch_status hemstitch_range_reader_read(const hemstitch_range_reader* reader, uint64_t at, void* output,
                                             size_t output_capacity, size_t* output_bytes) {
  return guarded([&] {
    need_for(output_capacity, output, "output");
    needed(output_bytes, "output_bytes");
    *output_bytes = needed(reader, "reader")->reader.read(at, room_of(output, output_capacity));
  });
}

hemstitch_status hemstitch_range_reader_restore(const hemstitch_range_reader* reader, hemstitch_range* ranges,
                                                size_t count) {
  return guarded([&] {
    const hemstitch_range_reader& of = *needed(reader, "reader");
    restore_ranges_of_c(of.reader, checked_ranges(of.memory, ranges, count));
  });
}

void hemstitch_range_reader_free(hemstitch_range_reader* reader) { delete reader; }

}  // extern "C"
