// Converts the options, reports and functions of C callers to those of C++.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "core/c_call.hpp"
#include "hemstitch/memory.hpp"

namespace hemstitch {

inline std::span<const std::byte> bytes_of(const void* data, std::size_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}
inline std::span<std::byte> room_of(void* data, std::size_t bytes) {
  return {static_cast<std::byte*>(data), bytes};
}

// As C++ has it; empty if `call` is NULL.
inline BetweenPieces between_pieces_of(hemstitch_check call, void* context) {
  if (call == nullptr) return {};
  return [call, context] {
    if (const int answer = call(context); answer != 0)
      throw Error(Status::kCancelled, fmt::format("the function between_pieces returned {}", answer));
  };
}

// The options that all calls share.
template <class Given, class Options>
void take_run_options(const Given& given, Options& options) {
  if (given.backend != nullptr) options.backend = given.backend;
  if (given.device != nullptr) options.device = given.device;
  options.threads = given.threads;
  options.memory_limit_bytes = given.memory_limit_bytes;
  options.gpu_memory_limit_bytes = given.gpu_memory_limit_bytes;
  if (const int format = number_of(given.format); format != HEMSTITCH_FORMAT_DEFAULT)
    options.format = static_cast<Format>(format);
  need_for(given.dictionary_bytes, given.dictionary, "options.dictionary");
  options.dictionary = bytes_of(given.dictionary, given.dictionary_bytes);
  options.window_log = given.window_log;
  options.between_pieces = between_pieces_of(given.between_pieces, given.between_pieces_context);
}

inline CompressOptions options_of(const hemstitch_compress_options& given) {
  CompressOptions options;
  take_run_options(given, options);
  options.level = given.level;
  options.block_bytes = given.block_bytes;
  options.seekable_bytes = given.seekable_bytes;
  options.acceleration = given.acceleration;
  options.linked_blocks = given.linked_blocks != 0;
  options.block_checksums = given.no_block_checksums == 0;
  options.content_checksum = given.content_checksum != 0;
  options.verify = given.verify != 0;
  options.stored = given.stored != 0;
  options.rsyncable = given.rsyncable != 0;
  options.legacy = given.legacy != 0;
  if (given.stored_name != nullptr) options.stored_name = given.stored_name;
  options.stored_time = given.stored_time;
  if (given.content_bytes != 0) options.content_bytes = given.content_bytes;
  return options;
}

inline RestoreOptions options_of(const hemstitch_restore_options& given) {
  RestoreOptions options;
  take_run_options(given, options);
  options.verify_checksums = given.skip_checksums == 0;
  options.accept_any_dictionary_id = given.accept_any_dictionary_id != 0;
  need_for(given.index_bytes, given.index, "options.index");
  options.index = bytes_of(given.index, given.index_bytes);
  options.used_bytes = given.used_bytes;
  return options;
}

// For calls that cannot report progress: `instead` says what to do.
template <class Given>
void refuse_watchers(const Given& given, std::string_view instead) {
  if (given.progress != nullptr)
    throw Error(Status::kInvalidOption, fmt::format("options.progress is not for this call: {}", instead));
  if (given.report != nullptr)
    throw Error(Status::kInvalidOption, fmt::format("options.report is not for this call: {}", instead));
}

inline constexpr const char* kNoWatchersOfRanges = "ranges and indexes have neither progress nor report";

template <class Given>
Progress progress_of(const Given& given) {
  if (given.progress == nullptr) return {};
  return [call = given.progress, context = given.progress_context](std::uint64_t input_bytes,
                                                                   std::uint64_t output_bytes) {
    if (const int answer = call(context, input_bytes, output_bytes); answer != 0)
      throw Error(Status::kCancelled, fmt::format("the progress function returned {}", answer));
  };
}

inline Output output_of(hemstitch_output call, void* context) {
  needed(call, "output");
  return [call, context](std::span<const std::byte> bytes) {
    if (const int answer = call(context, bytes.data(), bytes.size()); answer != 0)
      throw Error(Status::kWriteFailed, fmt::format("the output function returned {}", answer));
  };
}

// Cuts off what does not fit.
template <std::size_t kBytes>
void fill_text(char (&room)[kBytes], std::string_view text) {
  *std::copy_n(text.begin(), std::min(text.size(), kBytes - 1), room) = '\0';
}

inline void fill_report(hemstitch_report* report, const Report& made) {
  hemstitch_report told{};
  told.input_bytes = made.input_bytes;
  told.output_bytes = made.output_bytes;
  told.frame_count = made.frame_count;
  told.block_count = made.block_count;
  told.fallback_blocks = made.fallback_blocks;
  told.planned_bytes = made.planned_bytes;
  told.planned_device_bytes = made.planned_device_bytes;
  told.threads = made.threads;
  told.backend_dropped = made.backend_dropped;
  fill_text(told.backend, made.backend);
  fill_text(told.fallback_backend, made.fallback_backend);
  fill_text(told.fallback_reason, made.fallback_reason);
  fill_sized(report, told, "report");
}

}  // namespace hemstitch
