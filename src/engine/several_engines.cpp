#include "engine/several_engines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hemstitch {

SeveralEngines::SeveralEngines(std::vector<std::unique_ptr<BlockEngine>> engines) : members_(engines.size()) {
  for (std::size_t i = 0; i < engines.size(); ++i) members_[i].engine = std::move(engines[i]);
}

std::size_t SeveralEngines::preferred_batch_bytes() const {
  std::size_t most = 0;
  for (const Member& member : members_) most = std::max(most, member.engine->preferred_batch_bytes());
  return most;
}

std::size_t SeveralEngines::preferred_batch_blocks() const {
  std::size_t most = 0;
  for (const Member& member : members_) most = std::max(most, member.engine->preferred_batch_blocks());
  return most;
}

unsigned SeveralEngines::preferred_batches_in_flight(unsigned threads) const {
  if (threads == 1) return 1;
  unsigned sum = 0;
  for (const Member& member : members_) sum += member.engine->preferred_batches_in_flight(threads);
  return sum;
}

LargeBuffer SeveralEngines::make_buffer(std::size_t bytes) const {
  return members_.front().engine->make_buffer(bytes);
}

std::size_t SeveralEngines::staging_bytes(std::size_t input_bytes, std::size_t output_bytes) const {
  std::size_t most = 0;
  for (const Member& member : members_)
    most = std::max(most, member.engine->staging_bytes(input_bytes, output_bytes));
  return most;
}

DeviceNeeds SeveralEngines::device_needs(const BlockWork& work) const {
  DeviceNeeds tightest = members_.front().engine->device_needs(work);
  for (const Member& member : members_) {
    DeviceNeeds needs = member.engine->device_needs(work);
    if (needs.free_bytes && (!tightest.free_bytes || *needs.free_bytes < *tightest.free_bytes))
      tightest = std::move(needs);
  }
  return tightest;
}

bool SeveralEngines::keep_time(TimeLine& line) {
  return std::ranges::count_if(members_, [&](Member& member) { return member.engine->keep_time(line); }) ==
         std::ssize(members_);
}

void SeveralEngines::compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) {
  // An engine that fails may already have moved some of the outputs.
  std::vector<std::span<std::byte>> rooms;
  if (parameters.movable_outputs)
    for (const BlockTask& task : tasks) rooms.push_back(task.output);
  run([&](BlockEngine& engine) {
    for (std::size_t i = 0; i < rooms.size(); ++i) tasks[i].output = rooms[i];
    engine.compress(tasks, parameters);
  });
}

void SeveralEngines::restore(std::span<BlockTask> tasks, Format format) {
  run([&](BlockEngine& engine) { engine.restore(tasks, format); });
}

void SeveralEngines::run(const std::function<void(BlockEngine&)>& work) {
  std::vector<const Member*> tried;
  std::exception_ptr last;
  for (;;) {
    Member* const member = begin(tried);
    if (member == nullptr) {
      if (last) std::rethrow_exception(last);
      throw Error(Status::kDeviceFault, "every device has failed more than once");
    }
    try {
      work(*member->engine);
    } catch (const Error& error) {
      const bool of_device = is_device_failure(error);
      end(*member, of_device ? error.what() : "");
      if (!of_device) throw;
      last = std::current_exception();
      tried.push_back(member);
      continue;
    } catch (...) {
      end(*member, {});
      throw;
    }
    end(*member, {});
    return;
  }
}

SeveralEngines::Member* SeveralEngines::begin(const std::vector<const Member*>& tried) {
  const std::scoped_lock lock(mutex_);
  Member* least = nullptr;
  for (Member& member : members_)
    if (!member.failures.is_dropped() && std::ranges::find(tried, &member) == tried.end() &&
        (least == nullptr || member.batches < least->batches))
      least = &member;
  if (least != nullptr) ++least->batches;
  return least;
}

void SeveralEngines::end(Member& member, const std::string& failure) {
  const std::scoped_lock lock(mutex_);
  --member.batches;
  if (failure.empty()) return;
  member.failures.count();
  member.last_failure = failure;
}

std::string SeveralEngines::lost_devices() const {
  const std::scoped_lock lock(mutex_);
  std::string lost;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i].failures.is_dropped())
      lost += fmt::format("{}device {} of {} failed again and was dropped: {}", lost.empty() ? "" : "; ",
                          i + 1, members_.size(), members_[i].last_failure);
  return lost;
}

}  // namespace hemstitch
