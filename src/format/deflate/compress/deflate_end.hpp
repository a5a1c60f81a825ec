// How a block of a frame ends.
#pragma once

namespace hemstitch {

// How the last DEFLATE block ends.
enum class DeflateEnd {
  kFlush,  // others follow: an empty stored block goes on to the next byte
  kFinal,  // it is the stream's last one, and says so; zeros fill up its last byte
};

}  // namespace hemstitch
