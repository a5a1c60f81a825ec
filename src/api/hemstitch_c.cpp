// The C interface over the C++ one: statuses instead of exceptions.
#include "core/c_call.hpp"
#include "core/parallel.hpp"
#include "format/formats.hpp"
#include "hemstitch/files.hpp"
#include "hemstitch/hemstitch.h"
#include "hemstitch/hemstitch.hpp"
#include "pipeline/stream.hpp"

namespace {

using hemstitch::Error;
using hemstitch::guarded;
using hemstitch::need_for;
using hemstitch::needed;
using hemstitch::Status;

std::span<const std::byte> as_bytes(const void* data, std::size_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}

void need_buffers(const void* input, std::size_t input_bytes, const void* output, std::size_t output_capacity,
                  const std::size_t* output_bytes) {
  need_for(input_bytes, input, "input");
  need_for(output_capacity, output, "output");
  needed(output_bytes, "output_bytes");
}

// What both directions take of them.
template <class Options>
void take_options(const hemstitch_options* given, Options& options) {
  if (given == nullptr) return;
  if (given->backend != nullptr) options.backend = given->backend;
  if (given->device != nullptr) options.device = given->device;
  options.threads = given->threads;
  options.memory_limit_bytes = given->memory_limit_bytes;
  options.gpu_memory_limit_bytes = given->gpu_memory_limit_bytes;
  if (given->format != HEMSTITCH_FORMAT_DEFAULT)
    options.format = static_cast<hemstitch::Format>(given->format);
  if constexpr (requires { options.verify; }) options.verify = given->verify != 0;
  if constexpr (requires { options.index; }) {
    need_for(given->index_bytes, given->index, "index");
    options.index = as_bytes(given->index, given->index_bytes);
  }
}

// A caller's buffer; throws kOutputTooSmall when it is full.
class BufferSink : public hemstitch::Sink {
 public:
  BufferSink(void* output, std::size_t capacity) : room_(static_cast<std::byte*>(output), capacity) {}

  void write(std::span<const std::byte> bytes) override {
    if (bytes.size() > room_.size()) throw Error(Status::kOutputTooSmall, "the output buffer is full");
    std::copy(bytes.begin(), bytes.end(), room_.begin());
    room_ = room_.subspan(bytes.size());
    written_ += bytes.size();
  }
  void write_in_parallel(std::span<const std::byte> bytes) override {
    if (bytes.size() > room_.size()) return write(bytes);
    hemstitch::copy_in_parallel(room_.data(), bytes.data(), bytes.size());
    room_ = room_.subspan(bytes.size());
    written_ += bytes.size();
  }
  std::size_t written() const { return written_; }

 private:
  std::span<std::byte> room_;
  std::size_t written_ = 0;
};

hemstitch::FrameLoadOptions load_options(const hemstitch_frame_load_options* given) {
  hemstitch::FrameLoadOptions options;
  if (given == nullptr) return options;
  if (given->device != nullptr) options.device = given->device;
  options.threads = given->threads;
  options.verify_checksums = given->skip_checksums == 0;
  options.verify_content_checksum = given->skip_content_checksum == 0;
  options.stream = given->stream;
  return options;
}

}  // namespace

extern "C" {

const char* hemstitch_status_text(hemstitch_status status) {
  return hemstitch::status_text(static_cast<Status>(status));
}

const char* hemstitch_last_error_message(void) { return hemstitch::last_error_message().data(); }

const char* hemstitch_version(void) { return HEMSTITCH_VERSION_STRING; }

uint64_t hemstitch_compress_bound(uint64_t input_bytes) {
  return hemstitch_compress_bound_of(HEMSTITCH_FORMAT_DEFAULT, input_bytes);
}

uint64_t hemstitch_compress_bound_of(hemstitch_format format, uint64_t input_bytes) {
  try {
    hemstitch::CompressOptions options;
    if (format != HEMSTITCH_FORMAT_DEFAULT) options.format = static_cast<hemstitch::Format>(format);
    options = hemstitch::with_defaults(options);
    const auto writer = hemstitch::FormatTable::instance().of(options.format).make_writer(options);
    const hemstitch::FrameRoom room = writer->room();
    const std::uint64_t block_count = writer->layout(input_bytes).block_count();
    // No block may shrink.
    const std::uint64_t more_bytes =
        room.around_block_bytes() + writer->block_room_bytes(options.block_bytes) - options.block_bytes;
    const std::uint64_t frame_bytes = room.header_bytes + block_count * more_bytes + room.end_bytes;
    return input_bytes <= UINT64_MAX - frame_bytes ? input_bytes + frame_bytes : UINT64_MAX;
  } catch (...) {
    return UINT64_MAX;  // no memory for a writer: there is none for its output
  }
}

hemstitch_status hemstitch_compress(const void* input, size_t input_bytes, int level, void* output,
                                    size_t output_capacity, size_t* output_bytes) {
  return hemstitch_compress_with(nullptr, input, input_bytes, level, output, output_capacity, output_bytes);
}

hemstitch_status hemstitch_compress_with(const hemstitch_options* given, const void* input,
                                         size_t input_bytes, int level, void* output, size_t output_capacity,
                                         size_t* output_bytes) {
  return guarded([&] {
    need_buffers(input, input_bytes, output, output_capacity, output_bytes);
    hemstitch::CompressOptions options;
    take_options(given, options);
    if (level != 0) options.level = level;
    options.content_bytes = input_bytes;
    hemstitch::MemorySource source(as_bytes(input, input_bytes));
    BufferSink sink(output, output_capacity);
    compress_stream(source, sink, options);
    *output_bytes = sink.written();
  });
}

hemstitch_status hemstitch_restored_size(const void* input, size_t input_bytes, uint64_t* restored_bytes) {
  return guarded([&] {
    need_for(input_bytes, input, "input");
    *needed(restored_bytes, "restored_bytes") = hemstitch::restored_bytes(as_bytes(input, input_bytes));
  });
}

hemstitch_status hemstitch_restore(const void* input, size_t input_bytes, void* output,
                                   size_t output_capacity, size_t* output_bytes) {
  return hemstitch_restore_with(nullptr, input, input_bytes, output, output_capacity, output_bytes);
}

hemstitch_status hemstitch_restore_with(const hemstitch_options* given, const void* input, size_t input_bytes,
                                        void* output, size_t output_capacity, size_t* output_bytes) {
  return guarded([&] {
    need_buffers(input, input_bytes, output, output_capacity, output_bytes);
    hemstitch::MemorySource source(as_bytes(input, input_bytes));
    BufferSink sink(output, output_capacity);
    hemstitch::RestoreOptions options;
    take_options(given, options);
    const auto report = restore_stream(source, sink, options);
    if (report.trailing_garbage_at)
      throw Error(Status::kTrailingGarbage, "the last frame is followed by bytes that are no frame",
                  {{}, {}, report.trailing_garbage_at});
    *output_bytes = sink.written();
  });
}

hemstitch_status hemstitch_restore_ranges(const hemstitch_options* given, const void* input,
                                          size_t input_bytes, hemstitch_range* ranges, size_t count) {
  return guarded([&] {
    need_for(input_bytes, input, "input");
    need_for(count, ranges, "ranges");
    std::vector<hemstitch::ContentBytes> wanted;
    for (const hemstitch_range& range : std::span(ranges, count)) {
      need_for(range.output_capacity, range.output, "a range's output");
      wanted.push_back({range.begin, range.end});
    }
    hemstitch::RestoreOptions options;
    take_options(given, options);
    const auto restored = hemstitch::restore_ranges(as_bytes(input, input_bytes), wanted, options);
    for (size_t i = 0; i < count; ++i) {
      const std::vector<std::byte>& bytes = restored[i].bytes;
      const bool fits = bytes.size() <= ranges[i].output_capacity;
      if (fits) std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(ranges[i].output));
      ranges[i].output_bytes = fits ? bytes.size() : 0;
      ranges[i].status = static_cast<hemstitch_status>(fits ? restored[i].status : Status::kOutputTooSmall);
    }
  });
}

uint64_t hemstitch_index_bound(uint64_t input_bytes) { return hemstitch::GzipIndex::most_bytes(input_bytes); }

hemstitch_status hemstitch_make_index(const hemstitch_options* given, const void* input, size_t input_bytes,
                                      void* output, size_t output_capacity, size_t* output_bytes) {
  return guarded([&] {
    need_buffers(input, input_bytes, output, output_capacity, output_bytes);
    hemstitch::RestoreOptions options;
    take_options(given, options);
    const std::vector<std::byte> index = hemstitch::make_index(as_bytes(input, input_bytes), options);
    BufferSink sink(output, output_capacity);
    sink.write(index);
    *output_bytes = sink.written();
  });
}

hemstitch_status hemstitch_load_frame(const char* path, const hemstitch_frame_load_options* options,
                                      hemstitch_device_content* content) {
  return hemstitch_load_frames(&path, 1, options, content);
}

hemstitch_status hemstitch_load_frames(const char* const* paths, size_t count,
                                       const hemstitch_frame_load_options* options,
                                       hemstitch_device_content* contents) {
  return guarded([&] {
    need_for(count, paths, "paths");
    need_for(count, contents, "contents");
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.emplace_back(needed(paths[i], "a path"));
    const std::vector<hemstitch::DeviceContent> loaded = hemstitch::load_frames(names, load_options(options));
    std::vector<std::unique_ptr<hemstitch::DeviceContent>> owners;
    for (const hemstitch::DeviceContent& content : loaded)
      owners.push_back(std::make_unique<hemstitch::DeviceContent>(content));
    for (size_t i = 0; i < count; ++i)
      contents[i] = {loaded[i].data(), loaded[i].bytes(), loaded[i].restored_on_device(),
                     owners[i].release()};
  });
}

void hemstitch_release_content(hemstitch_device_content* content) {
  if (content == nullptr) return;
  delete static_cast<hemstitch::DeviceContent*>(content->owner);
  *content = {};
}

hemstitch_status hemstitch_save_frame(const void* content, uint64_t content_bytes, const char* path,
                                      const hemstitch_frame_save_options* given, uint64_t* frame_bytes) {
  return guarded([&] {
    need_for(content_bytes, content, "content");
    needed(path, "path");
    hemstitch::FrameSaveOptions options;
    if (given != nullptr) {
      if (given->level != 0) options.level = given->level;
      if (given->block_bytes != 0) options.block_bytes = given->block_bytes;
      options.block_checksums = given->no_block_checksums == 0;
      options.threads = given->threads;
      options.stream = given->stream;
    }
    const std::uint64_t bytes =
        hemstitch::save_frame({static_cast<const std::byte*>(content), content_bytes}, path, options);
    if (frame_bytes != nullptr) *frame_bytes = bytes;
  });
}

}  // extern "C"
