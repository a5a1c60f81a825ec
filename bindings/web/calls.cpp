#include "calls.hpp"

#include <algorithm>
#include <cstdint>
#include <typeinfo>
#include <vector>

#include "format/zstd/restore/zstd_bits.hpp"

// Replaces libc++abi's function, which prints its message and would link printf.
extern "C" [[noreturn]] void abort_message(const char*, ...) { __builtin_trap(); }

namespace hemstitch::web {
namespace {

std::vector<std::byte> output;  // the bytes that a call returns
char name_room[64];

}  // namespace

Limits limits;
std::string text;
std::unique_ptr<FrameCompression> writer;
std::unique_ptr<FrameRestoring> reader;

std::string_view name(std::uint32_t length) {
  return {name_room, std::min<std::size_t>(length, sizeof name_room)};
}

CompressOptions lz4_options(int level, std::uint32_t block_bytes, int block_checksums, int content_checksum,
                            double content_bytes) {
  CompressOptions options;
  options.level = level;
  options.block_bytes = block_bytes;
  options.block_checksums = block_checksums != 0;
  options.content_checksum = content_checksum != 0;
  if (content_bytes >= 0) options.content_bytes = static_cast<std::uint64_t>(content_bytes);
  return options;
}

CompressOptions gzip_options(int blocked, int level) {
  CompressOptions options;
  options.format = blocked != 0 ? Format::kBgzf : Format::kGzip;
  options.level = level;
  return options;
}

// ---- For all calls ----

EXPORT("textPlace") const char* text_place() { return text.data(); }
EXPORT("textBytes") std::uint32_t text_bytes() { return static_cast<std::uint32_t>(text.size()); }
EXPORT("outputPlace") const std::byte* output_place() { return output.data(); }
EXPORT("outputBytes") std::uint32_t output_bytes() { return static_cast<std::uint32_t>(output.size()); }
EXPORT("namePlace") char* name_place() { return name_room; }
EXPORT("allocate") void* allocate(std::uint32_t bytes) { return ::operator new(bytes); }

// All exceptions here derive from std::exception, which is their first base, but one: what Zstandard's decoder throws has no place yet. Without RTTI,
// the name of the type tells which one it is.
EXPORT("describeError") int describe_error(const std::exception* error, const std::type_info* type) {
  if (std::string_view(type->name()) == "N9hemstitch10ZstdDamageE")
    reader->fail_stream(reinterpret_cast<const ZstdDamage*>(error)->rule);
  text = error->what();
  const bool is_ours = std::string_view(type->name()) == "N9hemstitch5ErrorE";
  return static_cast<int>(is_ours ? static_cast<const Error*>(error)->status() : Status::kInternal);
}

// Sizes come as JavaScript numbers, which are exact up to 2^53.
EXPORT("setLimits") void set_limits(double binding_bytes, std::uint32_t workgroups_per_dimension) {
  limits = {static_cast<std::uint64_t>(binding_bytes), workgroups_per_dimension};
}

// ---- Frames written ----

EXPORT("writerRoomPlace") std::byte* writer_room_place() { return writer->room().data(); }
EXPORT("writerRoomBytes") std::uint32_t writer_room_bytes() {
  return static_cast<std::uint32_t>(writer->room().size());
}
EXPORT("writerFilled") void writer_filled(std::uint32_t bytes) { writer->filled(bytes); }
EXPORT("nextWriterJob") int next_writer_job(int at_end) {
  const bool has_job = writer->next_job(at_end != 0);
  if (has_job) text = writer->job();
  return has_job;
}
EXPORT("finishWriterJob") void finish_writer_job() { writer->finish_job(); }
EXPORT("finishWriter") void finish_writer() { writer->finish(); }
EXPORT("takeWriterOutput") void take_writer_output() { output = writer->take_output(); }

// ---- Frames read ----

EXPORT("readerRoom") std::byte* reader_room(std::uint32_t bytes) { return reader->room(bytes).data(); }
// 0: more input is wanted; 1: there is a job; 2: the stream has ended.
EXPORT("nextReaderJob") int next_reader_job(int at_end) {
  const FrameRestoring::Next next = reader->next(at_end != 0);
  if (next == FrameRestoring::Next::kJob) text = reader->job();
  return static_cast<int>(next);
}
EXPORT("finishReaderJob") void finish_reader_job() {
  reader->finish_job();
  output = reader->take_output();
}

}  // namespace hemstitch::web
