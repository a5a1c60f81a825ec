// Who restores a stream of DEFLATE on the processor: one thread, or several where they may and there is enough to do.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "format/stream_decoder.hpp"

namespace hemstitch {

StreamMemory deflate_stream_memory(const StreamMeans& means);
// `members`: streams are those of gzip members.
std::unique_ptr<StreamDecoder> make_deflate_decoder(std::span<const std::byte> history, bool members,
                                                    const StreamMeans& means);

}  // namespace hemstitch
