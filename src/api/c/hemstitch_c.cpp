// Implements the part of hemstitch.h that goes from memory to memory in one call, with hemstitch.hpp.
#include <algorithm>
#include <vector>

#include "api/c/c_options.hpp"
#include "api/report.hpp"
#include "api/sinks.hpp"
#include "core/options.hpp"
#include "core/overlap.hpp"
#include "format/formats.hpp"
#include "format/zstd_index.hpp"
#include "hemstitch/hemstitch.h"

using namespace hemstitch;

namespace {

void need_buffers(const void* input, std::size_t input_bytes, const void* output, std::size_t output_capacity,
                  const std::size_t* output_bytes) {
  need_for(input_bytes, input, "input");
  need_for(output_capacity, output, "output");
  needed(output_bytes, "output_bytes");
  refuse_overlap(bytes_of(input, input_bytes), bytes_of(output, output_capacity));
}

// How much longer than its content a frame is if no block shrinks.
std::uint64_t bytes_around(const FrameFormat& format, const CompressOptions& given,
                           std::uint64_t input_bytes) {
  const CompressOptions options = with_defaults(given);
  const auto writer = format.make_writer(options);
  const FrameRoom room = writer->room();
  const std::uint64_t more_bytes = room.around_block_bytes() + room.table_entry_bytes +
                                   writer->block_room_bytes(options.block_bytes) - options.block_bytes;
  return room.header_bytes + writer->layout(input_bytes).block_count() * more_bytes + room.end_bytes +
         room.table_bytes;
}

// Runs a stream with progress and report, if the caller wants them. run(source, hooks) returns its report.
template <class Given, class Run>
void watched(const Given& given, std::span<const std::byte> input, const Run& run) {
  if (given.report != nullptr) sized_bytes(given.report, "report");  // throws before the work, not after it
  MemorySource source(input);
  StreamHooks hooks;
  hooks.progress = progress_of(given);
  const StreamReport report = run(source, hooks);
  if (given.report != nullptr) fill_report(given.report, public_report(report));
}

}  // namespace

extern "C" {

const char* hemstitch_status_text(hemstitch_status status) {
  return status_text(static_cast<Status>(number_of(status)));
}

const char* hemstitch_last_error_message(void) { return last_error_message().data(); }

hemstitch_place hemstitch_last_error_place(void) { return last_error_place(); }

const char* hemstitch_version(void) { return HEMSTITCH_VERSION_STRING; }

uint64_t hemstitch_compress_bound(uint64_t input_bytes) {
  return hemstitch_compress_bound_of(HEMSTITCH_FORMAT_DEFAULT, input_bytes);
}

uint64_t hemstitch_compress_bound_of(hemstitch_format format, uint64_t input_bytes) {
  try {
    CompressOptions options;
    if (const int number = number_of(format); number != HEMSTITCH_FORMAT_DEFAULT)
      options.format = static_cast<Format>(number);
    const FrameFormat& known = FormatTable::instance().of(options.format);
    std::uint64_t frame_bytes = bytes_around(known, options, input_bytes);
    if (known.choices().seekable) {
      options.seekable_bytes = kLeastSeekableBytes;  // the most frames
      frame_bytes = std::max(frame_bytes, bytes_around(known, options, input_bytes));
      options.seekable_bytes = 0;
      options.window_log = kLeastFrameWindowLog;  // the shortest blocks
      options.block_bytes = known.block_sizes().front();
      frame_bytes = std::max(frame_bytes, bytes_around(known, options, input_bytes));
    }
    return input_bytes <= UINT64_MAX - frame_bytes ? input_bytes + frame_bytes : UINT64_MAX;
  } catch (...) {
    return UINT64_MAX;  // without memory for a writer, there is none for its output
  }
}

hemstitch_status hemstitch_compress(const void* input, size_t input_bytes, int level, void* output,
                                    size_t output_capacity, size_t* output_bytes) {
  hemstitch_compress_options options{};
  options.size = sizeof options;
  options.level = level;
  return hemstitch_compress_with(&options, input, input_bytes, output, output_capacity, output_bytes);
}

hemstitch_status hemstitch_compress_with(const hemstitch_compress_options* given, const void* input,
                                         size_t input_bytes, void* output, size_t output_capacity,
                                         size_t* output_bytes) {
  return guarded([&] {
    need_buffers(input, input_bytes, output, output_capacity, output_bytes);
    const auto all = sized(given, "options");
    CompressOptions options = options_of(all);
    const std::span<const std::byte> content = bytes_of(input, input_bytes);
    const std::span<std::byte> room = room_of(output, output_capacity);
    if (all.report == nullptr) {
      *output_bytes = compress_into(content, room, options, progress_of(all));
      return;
    }
    if (options.content_bytes && *options.content_bytes != input_bytes)
      throw Error(Status::kInvalidOption, fmt::format("options.content_bytes is {}, the input has {} bytes",
                                                      *options.content_bytes, input_bytes));
    options.content_bytes = input_bytes;
    RoomSink sink(room);
    watched(all, content, [&](MemorySource& source, const StreamHooks& hooks) {
      return compress_stream(source, sink, options, hooks);
    });
    *output_bytes = sink.written();
  });
}

hemstitch_status hemstitch_restored_size(const void* input, size_t input_bytes, uint64_t* restored) {
  return guarded([&] {
    need_for(input_bytes, input, "input");
    needed(restored, "restored_bytes");
    *restored = restored_bytes(bytes_of(input, input_bytes));
  });
}

hemstitch_status hemstitch_restore(const void* input, size_t input_bytes, void* output,
                                   size_t output_capacity, size_t* output_bytes) {
  return hemstitch_restore_with(nullptr, input, input_bytes, output, output_capacity, output_bytes);
}

hemstitch_status hemstitch_restore_with(const hemstitch_restore_options* given, const void* input,
                                        size_t input_bytes, void* output, size_t output_capacity,
                                        size_t* output_bytes) {
  return guarded([&] {
    need_buffers(input, input_bytes, output, output_capacity, output_bytes);
    const auto all = sized(given, "options");
    const RestoreOptions options = options_of(all);
    const std::span<const std::byte> data = bytes_of(input, input_bytes);
    const std::span<std::byte> room = room_of(output, output_capacity);
    if (all.report == nullptr) {
      *output_bytes = restore_into(data, room, options, progress_of(all));
      return;
    }
    RoomSink sink(room);
    watched(all, data, [&](MemorySource& source, const StreamHooks& hooks) {
      const StreamReport report = restore_stream(source, sink, options, hooks);
      report_end(report, options);
      return report;
    });
    *output_bytes = sink.written();
  });
}

hemstitch_status hemstitch_restore_to(const hemstitch_restore_options* given, const void* input,
                                      size_t input_bytes, hemstitch_output output, void* context) {
  return guarded([&] {
    need_for(input_bytes, input, "input");
    const auto all = sized(given, "options");
    const RestoreOptions options = options_of(all);
    const Output call = output_of(output, context);
    const std::span<const std::byte> data = bytes_of(input, input_bytes);
    if (all.report == nullptr) return restore_to(data, call, options, progress_of(all));
    CallSink sink(call);
    watched(all, data, [&](MemorySource& source, const StreamHooks& hooks) {
      const StreamReport report = restore_stream(source, sink, options, hooks);
      report_end(report, options);
      return report;
    });
  });
}

uint64_t hemstitch_index_bound(uint64_t input_bytes) {
  return std::max(GzipIndex::most_bytes(input_bytes), most_zstd_index_bytes(input_bytes));
}

hemstitch_status hemstitch_make_index(const hemstitch_restore_options* given, const void* input,
                                      size_t input_bytes, void* output, size_t output_capacity,
                                      size_t* output_bytes) {
  return guarded([&] {
    need_buffers(input, input_bytes, output, output_capacity, output_bytes);
    const auto all = sized(given, "options");
    refuse_watchers(all, kNoWatchersOfRanges);
    RoomSink sink(room_of(output, output_capacity));
    sink.write(make_index(bytes_of(input, input_bytes), options_of(all)));
    *output_bytes = sink.written();
  });
}

}  // extern "C"
