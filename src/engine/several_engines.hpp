// An engine over several devices: an engine for each, and batches go to the one that has the least to do. Devices of one kind write
// the same bytes (docs/architecture.md), so it does not matter who worked on which batch.
//
// A batch on which a device fails is given to another one; a device that fails a second time is given nothing any more. Where none is
// left, or the batch has failed on all, what the last one threw is thrown, and whoever redoes failed batches does so.
//
// Thread safety: like every engine, from several threads at once.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/backend.hpp"

namespace hemstitch {

class SeveralEngines : public BlockEngine {
 public:
  // At least one. All work from memory that the first one makes.
  explicit SeveralEngines(std::vector<std::unique_ptr<BlockEngine>> engines);

  std::size_t preferred_batch_bytes() const override;
  std::size_t preferred_batch_blocks() const override;
  unsigned preferred_batches_in_flight(unsigned threads) const override;
  LargeBuffer make_buffer(std::size_t bytes) const override;
  std::size_t staging_bytes(std::size_t input_bytes, std::size_t output_bytes) const override;
  // Of the device that has the least memory free: batches go to all of them.
  DeviceNeeds device_needs(const BlockWork& work) const override;
  bool keep_time(TimeLine& line) override;
  std::string lost_devices() const override;

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) override;
  void restore(std::span<BlockTask> tasks, Format format) override;
  // By the first one: what follows in a stream needs what stands before.
  StreamMemory stream_memory(Format format, const StreamMeans& means) const override {
    return members_.front().engine->stream_memory(format, means);
  }
  std::unique_ptr<StreamDecoder> make_stream_decoder(Format format, std::span<const std::byte> history,
                                                     const StreamMeans& means) override {
    return members_.front().engine->make_stream_decoder(format, history, means);
  }

 private:
  struct Member {
    std::unique_ptr<BlockEngine> engine;
    unsigned batches = 0;  // that it works on
    unsigned failures = 0;
    std::string last_failure = {};
  };

  // work(engine) on one after the other, until one does it.
  void run(const std::function<void(BlockEngine&)>& work);
  // The one with the least to do of those that are not in `tried`; null where there is none.
  Member* begin(const std::vector<const Member*>& tried);
  // `failure` is the device's, empty where it did its work.
  void end(Member& member, const std::string& failure);

  mutable std::mutex mutex_;  // guards the members' numbers
  std::vector<Member> members_;
};

}  // namespace hemstitch
