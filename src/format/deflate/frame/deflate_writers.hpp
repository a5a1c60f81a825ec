// Writes the bytes before, around and after the blocks of gzip, BGZF, zlib and raw DEFLATE.
//
// gzip, zlib, deflate: content is cut into blocks of kDeflateBlockBytes. A block's data has whole bytes:
// DEFLATE blocks without the final bit, ended by an empty stored block (zlib's sync flush). Its history is
// the 32 KB before it. After the last one come an empty fixed block with the final bit (03 00) and the
// trailer.
//
// bgzf: every block of kBgzfBlockBytes is a member of its own, without history, and its last DEFLATE block is
// final. The end marker of 28 bytes is the last member.
#pragma once

#include <cstddef>
#include <memory>

#include "format/frame_writer.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

inline constexpr std::size_t kDeflateBlockBytes = 1 << 20;
inline constexpr std::size_t kBgzfBlockBytes =
    65280;  // as in bgzip: leaves room for content that does not shrink

// For the format in the options, which are checked and complete.
std::unique_ptr<FrameWriter> make_deflate_writer(const CompressOptions& options);

}  // namespace hemstitch
