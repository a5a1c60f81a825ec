// What compresses and restores the blocks of a format on the processor. A format's row has up to two
// (formats.hpp): its production path, with which `cpu` works, and its twins, which are `reference`.
//
// A codec knows nothing of frames: it gets blocks with their history. For a stream, whose blocks only
// restoring tells apart, it makes decoders, and gets the frame's header, which says what they need.
//
// Thread safety: any number of calls at once, each with its own tasks. The output of a call never depends on
// earlier calls.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "format/block_coder.hpp"
#include "format/block_task.hpp"
#include "format/frame_reader.hpp"
#include "format/stream_decoder.hpp"
#include "format/stream_encoder.hpp"

namespace hemstitch {

class Codec {
 public:
  virtual ~Codec() = default;

  // The library that does the work, and its version; empty for our own code.
  virtual std::string library() const { return {}; }

  // Whether it compresses, besides restoring.
  virtual bool compresses() const { return true; }

  // Give every task a status. Throw kOutOfMemory or std::bad_alloc, for example if a library finds no memory
  // for its working state.
  virtual void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) const = 0;
  // The output of a block that restores to more than its room is damaged, since the frame limits the room.
  virtual void restore(std::span<BlockTask> tasks) const = 0;
  // Null if it has none. The bytes do not depend on the threads.
  virtual std::unique_ptr<StreamEncoder> make_stream_encoder(const StreamEncoding& /*encoding*/) const {
    return nullptr;
  }

  // For single blocks that are whole in memory. Null if it has none. It must not outlive the codec.
  virtual std::unique_ptr<BlockCoder> make_block_coder() const { return nullptr; }

  // How much memory a decoder of the frame's stream would take.
  virtual StreamMemory stream_memory(const FrameHeader& /*header*/, const StreamMeans& /*means*/) const {
    return {};
  }
  // Null if it has none. `history` is the dictionary; it must outlive the decoder.
  virtual std::unique_ptr<StreamDecoder> make_stream_decoder(const FrameHeader& /*header*/,
                                                             std::span<const std::byte> /*history*/,
                                                             const StreamMeans& /*means*/) const {
    return nullptr;
  }
};

}  // namespace hemstitch
