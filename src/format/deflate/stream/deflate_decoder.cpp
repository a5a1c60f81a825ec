#include "format/deflate/stream/deflate_decoder.hpp"

#include "format/deflate/restore/deflate_restore.hpp"
#include "format/deflate/stream/deflate_parallel_decoder.hpp"

namespace hemstitch {

StreamMemory deflate_stream_memory(const StreamMeans& means) {
  const DeflateParallelLimits limits = deflate_parallel_limits(means);
  return {.host_bytes = limits.threads > 1 ? limits.memory_bytes() : 0};
}

std::unique_ptr<StreamDecoder> make_deflate_decoder(std::span<const std::byte> history, bool members,
                                                    const StreamMeans& means) {
  const DeflateParallelLimits limits = deflate_parallel_limits(means);
  if (limits.threads == 1) return std::make_unique<DeflateDecoder>(history);
  return std::make_unique<DeflateParallelDecoder>(history, members, limits);
}

}  // namespace hemstitch
