#include "core/options.hpp"

#include <fmt/format.h>
#include <tbb/info.h>

#include <algorithm>

#include "core/messages.hpp"

namespace hemstitch {
namespace {

void require(bool valid, const std::string& what) {
  if (!valid) throw Error(Status::kInvalidOption, what);
}

void validate_threads(unsigned threads) {
  require(threads <= kMaxThreads, out_of_range("threads", threads, 0, kMaxThreads));
}

}  // namespace

void validate(const CompressOptions& options) {
  require(options.acceleration >= 0 && options.acceleration <= kMaxAcceleration,
          out_of_range("acceleration", options.acceleration, 0, kMaxAcceleration));
  require(options.acceleration == 0 || options.level == kMinLevel,
          fmt::format("acceleration needs level 1, level is {}", options.level));
  validate_threads(options.threads);
}

void validate(const RestoreOptions& options) { validate_threads(options.threads); }

std::uint64_t most_window_bytes(const RestoreOptions& options) {
  if (options.window_log == 0) return options.memory_limit_bytes;
  require(options.window_log >= kLeastFrameWindowLog && options.window_log <= kMostFrameWindowLog,
          out_of_range("window_log", options.window_log, kLeastFrameWindowLog, kMostFrameWindowLog));
  // A window that is asked for does not make a usual one too large.
  return std::max({options.memory_limit_bytes, std::uint64_t{1} << options.window_log,
                   options.memory_limit_bytes == 0 ? kUsualWindowBytes : 0});
}

void refuse_used_bytes(const RestoreOptions& options) {
  require(options.used_bytes == nullptr, "used_bytes is only for calls that take all of one input at once");
}

unsigned resolve_threads(unsigned requested) {
  const auto cores = static_cast<unsigned>(tbb::info::default_concurrency());
  return requested != 0 ? std::min(requested, kMostThreadsPerCore * cores) : cores;
}

}  // namespace hemstitch
