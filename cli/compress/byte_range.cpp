#include "cli/compress/byte_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/compress/gzip_range.hpp"
#include "cli/messages.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::uint64_t kMostKept = 64 << 20;

// Keeps the last bytes that were written, in a ring.
class TailSink : public Sink {
 public:
  explicit TailSink(std::size_t most) : ring_(most) {}

  void write(std::span<const std::byte> bytes) override {
    const auto kept = bytes.last(std::min(bytes.size(), ring_.size()));
    received_ += bytes.size();
    std::size_t copied = 0;
    for_parts(received_ - kept.size(), kept.size(), [&](std::span<std::byte> part) {
      std::copy_n(kept.begin() + static_cast<std::ptrdiff_t>(copied), part.size(), part.begin());
      copied += part.size();
    });
  }

  // Returns how many bytes it wrote.
  std::uint64_t write_to(Sink& sink) {
    const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(received_, ring_.size()));
    for_parts(received_ - kept, kept, [&](std::span<std::byte> part) { sink.write(part); });
    return kept;
  }

 private:
  // Visits the one or two pieces of the ring for `count` bytes, from byte number `begin` on.
  template <class Visit>
  void for_parts(std::uint64_t begin, std::size_t count, Visit visit) {
    if (count == 0) return;
    const auto at = static_cast<std::size_t>(begin % ring_.size());
    const std::size_t first = std::min(count, ring_.size() - at);
    visit(std::span(ring_).subspan(at, first));
    if (first < count) visit(std::span(ring_).first(count - first));
  }

  std::vector<std::byte> ring_;
  std::uint64_t received_ = 0;
};

// For a stream that can be read only once.
StreamReport restore_last_by_keeping(Source& source, Sink& sink, std::uint64_t last, RestoreOptions options,
                                     const StreamHooks& hooks) {
  std::uint64_t& limit = options.memory_limit_bytes;
  if (last > kMostKept || (limit > 0 && last >= limit))
    throw ToolError(fmt::format(
        "--range -{}: the last bytes of a pipe are kept in memory, at most {}M of them and within "
        "--memory (name a file, or pass the content on to tail -c)",
        last, kMostKept >> 20));
  if (limit > 0) limit -= last;
  TailSink tail(static_cast<std::size_t>(last));
  StreamReport report = restore_stream(source, tail, options, hooks);
  report.output_bytes = tail.write_to(sink);
  return report;
}

}  // namespace

PartReport restore_part(FileSource& source, Sink& sink, const ByteRange& range, const RestoreOptions& options,
                        const StreamHooks& hooks) {
  if (!range.last) return restore_from_nearest(source, sink, range.begin, range.end, options, hooks);
  if (!source.seek(0)) return {restore_last_by_keeping(source, sink, *range.last, options, hooks)};
  return restore_last(source, sink, *range.last, options, hooks);
}

}  // namespace hemstitch::cli
