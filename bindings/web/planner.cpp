// The planner as a WebAssembly module: the library's own plans and frames behind functions that hemstitch.js calls.
//
// An instance of the module serves one call of hemstitch.js, one frame or one list of matches. A C++ exception ends it: the import that throws
// does so in JavaScript, and no C++ frame is unwound.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include "format/deflate/deflate_formats.hpp"
#include "format/lz4/block/lz4_block_size.hpp"
#include "format/lz4/compress/lz4_judge.hpp"
#include "lz4_jobs.hpp"
#include "match_jobs.hpp"

#define EXPORT(name) extern "C" __attribute__((export_name(name)))

// The one of libc++abi prints, for which it would bring printf along.
extern "C" [[noreturn]] void abort_message(const char*, ...) { __builtin_trap(); }

namespace hemstitch {

// The table of formats has LZ4 alone here, which is not asked for these.
std::vector<std::unique_ptr<FrameFormat>> make_deflate_formats() { return {}; }
JudgedMatches judge_lz4_matches(std::span<const MatchRecord>) { __builtin_trap(); }
std::optional<std::uint64_t> lz4_block_restored_bytes(std::span<const std::byte>) { __builtin_trap(); }

namespace web {
namespace {

Limits limits;
std::string text;               // that a call hands out: a job, a message
std::vector<std::byte> output;  // bytes that a call hands out
std::unique_ptr<Lz4Writer> writer;
std::unique_ptr<Lz4Reader> reader;
std::unique_ptr<MatchFinder> finder;
std::vector<std::uint32_t> matches;
char name_room[64];

std::string_view name(std::uint32_t length) {
  return {name_room, std::min<std::size_t>(length, sizeof name_room)};
}

}  // namespace

// ---- What all calls share ----

EXPORT("textPlace") const char* text_place() { return text.data(); }
EXPORT("textBytes") std::uint32_t text_bytes() { return static_cast<std::uint32_t>(text.size()); }
EXPORT("outputPlace") const std::byte* output_place() { return output.data(); }
EXPORT("outputBytes") std::uint32_t output_bytes() { return static_cast<std::uint32_t>(output.size()); }
EXPORT("namePlace") char* name_place() { return name_room; }
EXPORT("allocate") void* allocate(std::uint32_t bytes) { return ::operator new(bytes); }

// All that is thrown here is one of the standard library's heirs, and begins with it. Which one, its type's name tells: there is no RTTI.
EXPORT("describeError") int describe_error(const std::exception* error, const std::type_info* type) {
  text = error->what();
  const bool is_ours = std::string_view(type->name()) == "N9hemstitch5ErrorE";
  return static_cast<int>(is_ours ? static_cast<const Error*>(error)->status() : Status::kInternal);
}

// Bytes come as numbers of JavaScript, which are exact up to 2^53.
EXPORT("setLimits") void set_limits(double binding_bytes, std::uint32_t workgroups_per_dimension) {
  limits = {static_cast<std::uint64_t>(binding_bytes), workgroups_per_dimension};
}

// ---- LZ4 frames written ----

// A level or a block size of 0 is the format's default; a content size below 0 is not known.
EXPORT("beginLz4")
void begin_lz4(int level, std::uint32_t block_bytes, int block_checksums, int content_checksum,
               double content_bytes, double batch_bytes) {
  CompressOptions options;
  options.level = level;
  options.block_bytes = block_bytes;
  options.block_checksums = block_checksums != 0;
  options.content_checksum = content_checksum != 0;
  if (content_bytes >= 0) options.content_bytes = static_cast<std::uint64_t>(content_bytes);
  writer = std::make_unique<Lz4Writer>(options, static_cast<std::uint64_t>(batch_bytes), limits);
}
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

// ---- LZ4 frames read ----

EXPORT("beginRestoring") void begin_restoring(int verify_checksums, double batch_bytes) {
  reader =
      std::make_unique<Lz4Reader>(verify_checksums != 0, static_cast<std::uint64_t>(batch_bytes), limits);
}
EXPORT("readerRoom") std::byte* reader_room(std::uint32_t bytes) { return reader->room(bytes).data(); }
// 0: more input is wanted; 1: there is a job; 2: the stream has ended.
EXPORT("nextReaderJob") int next_reader_job(int at_end) {
  const Lz4Reader::Next next = reader->next(at_end != 0);
  if (next == Lz4Reader::Next::kJob) text = reader->job();
  return static_cast<int>(next);
}
EXPORT("finishReaderJob") void finish_reader_job() {
  reader->finish_job();
  output = reader->take_output();
}

// ---- Matches ----

EXPORT("beginMatching") void begin_matching() { finder = std::make_unique<MatchFinder>(); }
EXPORT("setFinder") void set_finder(std::uint32_t length) { finder->set_finder(name(length)); }
EXPORT("setParse") void set_parse(std::uint32_t length) { finder->set_parse(name(length)); }
EXPORT("setParameter") void set_parameter(std::uint32_t length, std::uint32_t value) {
  finder->set_parameter(name(length), value);
}
EXPORT("checkMatching") void check_matching() { finder->check(limits); }
EXPORT("mostBlockBytes") double most_block_bytes() {
  return static_cast<double>(finder->most_block_bytes(limits));
}
EXPORT("finderRoom") std::byte* finder_room(std::uint32_t bytes) { return finder->room(bytes).data(); }
EXPORT("matchingJob") void matching_job(std::uint32_t history_bytes, std::uint32_t begin) {
  text = finder->job(history_bytes, begin);
}
EXPORT("takeMatches") const std::uint32_t* take_matches() {
  matches = finder->take_matches();
  return matches.data();
}
EXPORT("matchWords") std::uint32_t match_words() { return static_cast<std::uint32_t>(matches.size()); }
EXPORT("judgingJob") void judging_job() { text = finder->judging_job(); }
EXPORT("judgement") void judgement() { text = finder->judgement(); }

}  // namespace web
}  // namespace hemstitch
