// What stands before, around and behind the blocks of gzip, BGZF, zlib and raw DEFLATE.
//
// gzip, zlib, deflate: content is cut into blocks of kDeflateBlockBytes. A block's data is whole bytes: DEFLATE blocks without the
// final bit, ended by an empty stored block (zlib's sync flush); its history are the 32 KB before it. Behind the last one stands an
// empty fixed block with the final bit (03 00), then the trailer. bgzf: every block of kBgzfBlockBytes is a member of its own, with
// no history, the last of its DEFLATE blocks final; the end marker of 28 bytes is the last member.
#pragma once

#include <cstddef>
#include <memory>

#include "format/frame_writer.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

inline constexpr std::size_t kDeflateBlockBytes = 1 << 20;
inline constexpr std::size_t kBgzfBlockBytes =
    65280;  // what bgzip takes: it leaves room for what does not shrink

// For the format that the options name, which are checked and have no defaults left.
std::unique_ptr<FrameWriter> make_deflate_writer(const CompressOptions& options);

}  // namespace hemstitch
