// How a block of a frame ends.
#pragma once

namespace hemstitch {

// How the last DEFLATE block of a frame's block ends.
enum class DeflateEnd {
  kFlush,  // more follow: an empty stored block fills up to the next byte
  kFinal,  // it is the last one of the stream and says so; zeros fill its last byte
};

}  // namespace hemstitch
