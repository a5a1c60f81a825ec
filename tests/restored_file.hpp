// A file restored by the library's stream, and what its caller learns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "collect_sink.hpp"
#include "core/source.hpp"
#include "pipeline/stream.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

struct RestoredFile {
  Bytes content;  // up to the error, if there is one
  StreamReport report;
  std::string error;
};

inline RestoredFile restored_file(const Bytes& data, const RestoreOptions& options,
                                  std::optional<std::pair<std::uint64_t, std::uint64_t>> range = {}) {
  MemorySource source(data);
  CollectSink sink;
  RestoredFile result;
  try {
    result.report = range ? restore_range(source, sink, range->first, range->second, options)
                          : restore_stream(source, sink, options);
  } catch (const Error& error) {
    result.error = error.what();
  }
  result.content = std::move(sink.content);
  return result;
}

}  // namespace hemstitch::testing
