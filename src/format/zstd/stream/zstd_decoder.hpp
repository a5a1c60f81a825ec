// The decoder of a frame of Zstandard on the processor: libzstd with one thread, or our own with several if that is allowed and
// worthwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "format/zstd/stream/zstd_decoder_cpu.hpp"

namespace hemstitch {

StreamMemory zstd_stream_memory(const FrameHeader& header, const StreamMeans& means);
// `states` and the dictionary must outlive the decoder. Throws ZstdDamage for a damaged dictionary, or as ZstdCpuDecoder does.
std::unique_ptr<StreamDecoder> make_zstd_decoder(ZstdDecoderStates& states, const FrameHeader& header,
                                                 std::span<const std::byte> dictionary,
                                                 const StreamMeans& means);

}  // namespace hemstitch
