// The decoder of a frame of Zstandard on the processor: libzstd with one thread, or our own with several if that is allowed and
// worthwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "format/zstd/stream/zstd_decoder_cpu.hpp"

namespace hemstitch {

// Of a frame without a dictionary; one with a dictionary takes less.
StreamMemory zstd_stream_memory(const FrameHeader& header, const StreamMeans& means);
// `states` must outlive the decoder.
std::unique_ptr<StreamDecoder> make_zstd_decoder(ZstdDecoderStates& states, const FrameHeader& header,
                                                 std::span<const std::byte> dictionary,
                                                 const StreamMeans& means);

}  // namespace hemstitch
