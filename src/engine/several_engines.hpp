// An engine over several devices. It has an engine for each device, and a batch goes to the device with the
// least work. Devices of one kind write the same bytes (docs/architecture.md), so it does not matter which
// device works on which batch.
//
// If a device fails on a batch, another one gets it. A device that fails a second time gets no more batches.
// If no device is left, or all have failed on the batch, the last error is thrown, and the caller may redo
// the batch.
//
// Thread safety: like every engine, from several threads at once.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/device_failures.hpp"
#include "engine/backend.hpp"

namespace hemstitch {

class SeveralEngines : public BlockEngine {
 public:
  // At least one engine. The first one makes the host memory for all.
  explicit SeveralEngines(std::vector<std::unique_ptr<BlockEngine>> engines);

  std::size_t preferred_batch_bytes() const override;
  std::size_t preferred_batch_blocks() const override;
  unsigned preferred_batches_in_flight(unsigned threads) const override;
  LargeBuffer make_buffer(std::size_t bytes) const override;
  std::size_t staging_bytes(std::size_t input_bytes, std::size_t output_bytes) const override;
  // Of the device with the least free memory, since every device gets batches.
  DeviceNeeds device_needs(const BlockWork& work) const override;
  bool keep_time(TimeLine& line) override;
  std::string lost_devices() const override;

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) override;
  void restore(std::span<BlockTask> tasks, Format format) override;
  bool restores_blocks(Format format) const override {
    return members_.front().engine->restores_blocks(format);
  }
  bool verifies_blocks(Format format) const override {
    return members_.front().engine->verifies_blocks(format);
  }
  // The first engine makes it: each part of a stream needs the part before it.
  StreamMemory stream_memory(Format format, const FrameHeader& header,
                             const StreamMeans& means) const override {
    return members_.front().engine->stream_memory(format, header, means);
  }
  std::unique_ptr<StreamDecoder> make_stream_decoder(Format format, const FrameHeader& header,
                                                     std::span<const std::byte> history,
                                                     const StreamMeans& means) override {
    return members_.front().engine->make_stream_decoder(format, header, history, means);
  }

 private:
  struct Member {
    std::unique_ptr<BlockEngine> engine;
    unsigned batches = 0;  // in progress on it
    DeviceFailures failures = {};
    std::string last_failure = {};
  };

  // Calls work(engine) for one engine after the other, until one succeeds.
  void run(const std::function<void(BlockEngine&)>& work);
  // The engine with the least work that is not in `tried`; null if there is none.
  Member* begin(const std::vector<const Member*>& tried);
  // `failure` is the device's message; empty after success.
  void end(Member& member, const std::string& failure);

  mutable std::mutex mutex_;  // guards the members' numbers
  std::vector<Member> members_;
};

}  // namespace hemstitch
