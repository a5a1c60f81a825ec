// Any bytes as the index of a gzip file, read by the tool's reader and by the library's ranges. They must
// refuse it, or restore a part of the content from the place that it names. With a valid index, the part must
// be the right content; with any other, it must not be longer than what was asked for.
#include <zlib.h>

#include "deflate_streams.hpp"
#include "fuzz.hpp"
#include "pipeline/index_points.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

namespace {

const Bytes& file() {
  static const Bytes bytes = zlib_stream(wordy_bytes(60'000), 6, Z_DEFAULT_STRATEGY, 1, MAX_WBITS + 16) +
                             zlib_stream(mixed_bytes(20'000), 6, Z_DEFAULT_STRATEGY, 1, MAX_WBITS + 16);
  return bytes;
}

class CountingSink : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override { count += bytes.size(); }
  std::uint64_t count = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const std::uint64_t begin = input.ConsumeBool() ? input.ConsumeIntegralInRange<std::uint64_t>(0, 80'001)
                                                  : input.ConsumeIntegral<std::uint64_t>();
  const std::uint64_t wanted = input.ConsumeIntegralInRange<std::uint64_t>(0, 3000);
  const std::uint64_t end = begin > UINT64_MAX - wanted ? UINT64_MAX : begin + wanted;
  const Bytes index = rest_of(input);
  RestoreOptions options;
  options.backend = "cpu";
  options.threads = 1;
  MemorySource index_source(index);
  if (auto reader = GzipIndexReader::of(index_source, file().size()))
    if (const auto point = reader->nearest(begin)) {
      require(point->content_at <= begin && point->bit < file().size() * 8);
      require(point->window.empty() || point->window.size() == kGzipWindowBytes);
      MemorySource source(file());
      CountingSink sink;
      try {
        restore_range_from(source, sink, *point, begin, end, options);
      } catch (const Error&) {
      }
      require(sink.count <= end - begin);
    }
  options.index = index;
  if (index.empty()) return 0;
  const ContentBytes ranges[] = {{begin, end}, {0, 100}, {79'000, UINT64_MAX}};
  try {
    for (const RestoredRange& range : restore_ranges(file(), ranges, options))
      require(range.status == Status::kOk || range.bytes.empty());
  } catch (const Error&) {
  }
  return 0;
}
