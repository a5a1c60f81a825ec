// The decoder of a stream of DEFLATE on the processor: for one thread, or for several if that is allowed and
// worthwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "format/stream_decoder.hpp"

namespace hemstitch {

StreamMemory deflate_stream_memory(const StreamMeans& means);
// `members`: streams are gzip members.
std::unique_ptr<StreamDecoder> make_deflate_decoder(std::span<const std::byte> history, bool members,
                                                    const StreamMeans& means);

}  // namespace hemstitch
