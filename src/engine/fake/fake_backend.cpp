#include "engine/fake/fake_backend.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <sstream>
#include <thread>

#include "engine/registry.hpp"

namespace hemstitch {
namespace {

struct FakeState {
  explicit FakeState(FakePlan the_plan)
      : plan(std::move(the_plan)), counts(plan.counts ? plan.counts : std::make_shared<FakeCounts>()) {}
  const FakePlan plan;
  const std::shared_ptr<FakeCounts> counts;
  std::mutex upload, kernel, download;  // one batch at a time
};

class FakeEngine : public BlockEngine {
 public:
  FakeEngine(std::shared_ptr<FakeState> state, std::unique_ptr<BlockEngine> inner)
      : state_(std::move(state)), inner_(std::move(inner)) {}

  // Like a device: many blocks in a batch, a few batches in flight.
  std::size_t preferred_batch_bytes() const override { return 1 << 20; }
  unsigned preferred_batches_in_flight(unsigned) const override { return 3; }

  DeviceNeeds device_needs(const BlockWork& work) const override {
    const std::uint64_t per_byte = state_->plan.device_bytes_per_byte;
    if (per_byte == 0) return {};
    return {.batch_bytes = [=](std::uint64_t blocks) { return blocks * work.block_bytes * per_byte; },
            .slots = 3,
            .free_bytes = std::uint64_t{64} << 20};
  }
  bool keep_time(TimeLine& line) override {
    if (state_->plan.stage.count() == 0) return false;
    line_ = &line;
    return true;
  }

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) override {
    run(tasks, [&] { inner_->compress(tasks, parameters); });
  }
  void restore(std::span<BlockTask> tasks, Format format) override {
    run(tasks, [&] { inner_->restore(tasks, format); });
  }
  bool restores_blocks(Format) const override { return state_->plan.restores_blocks; }
  bool verifies_blocks(Format) const override {
    return state_->plan.restores_blocks && state_->plan.verifies_blocks;
  }

 private:
  template <class Work>
  void run(std::span<BlockTask> tasks, Work work) {
    const FakePlan& plan = state_->plan;
    const std::uint64_t call = ++state_->counts->calls;
    std::this_thread::sleep_for(plan.delay * (1 + call % 2));
    if (plan.lost_from_call != 0 && call >= plan.lost_from_call)
      throw Error(Status::kDeviceLost, fmt::format("fake device: lost at call {}", call));
    if (plan.out_of_memory_calls.contains(call))
      throw Error(Status::kDeviceOutOfMemory, fmt::format("fake device: out of memory at call {}", call));
    if (line_ == nullptr) {
      work();
    } else {
      const std::uint64_t batch = line_->next_batch();
      stage(Stage::kUpload, state_->upload, batch, [] {});
      stage(Stage::kKernel, state_->kernel, batch, work);
      stage(Stage::kDownload, state_->download, batch, [] {});
    }
    if (tasks.empty()) return;
    BlockTask& first = tasks.front();
    if (plan.failing_block_calls.contains(call)) first.status = Status::kDeviceFault;
    if (plan.wrong_bytes_calls.contains(call) && first.status == Status::kOk && first.output_bytes > 0)
      first.output[first.output_bytes / 2] ^= std::byte{0x40};
  }

  template <class Work>
  void stage(Stage stage, std::mutex& part, std::uint64_t batch, Work work) {
    const std::scoped_lock lock(part);
    const StageTimer timer(*line_, stage, batch);
    std::this_thread::sleep_for(state_->plan.stage * (stage == Stage::kKernel ? 3 : 1));
    work();
  }

  std::shared_ptr<FakeState> state_;
  std::unique_ptr<BlockEngine> inner_;
  TimeLine* line_ = nullptr;  // where its times are recorded
};

class FakeBackend : public Backend {
 public:
  explicit FakeBackend(FakePlan plan) : state_(std::make_shared<FakeState>(std::move(plan))) {}

  std::string_view name() const override { return "fake"; }
  std::string description(std::string_view) const override {
    return fmt::format("tests only: {}, with injected faults", state_->plan.inner);
  }
  std::optional<std::string> unavailable_reason(std::string_view) const override {
    if (state_->plan.unavailable_reason.empty()) return std::nullopt;
    return state_->plan.unavailable_reason;
  }
  bool chosen_by_auto() const override { return state_->plan.chosen_by_auto; }
  BackendFacts facts(std::string_view) const override {
    return {.backend = std::string(name()), .kind = BackendKind::kDevice};
  }
  // It pays off for any work.
  std::optional<BackendFigures> figures(const BackendFacts&, Format) const override {
    constexpr double kGbps = 1e4;
    return BackendFigures{.compress = {kGbps, kGbps, kGbps, kGbps, kGbps}, .restore = kGbps, .overlap = 1};
  }
  bool starts_at_once() const override { return state_->plan.start.count() == 0; }
  std::string_view fallback_name() const override { return state_->plan.inner; }
  bool supports(Format format, Direction direction) const override {
    return BackendRegistry::instance().find_usable(state_->plan.inner).supports(format, direction);
  }
  std::unique_ptr<BlockEngine> make_engine(std::string_view) const override {
    std::this_thread::sleep_for(state_->plan.start);
    ++state_->counts->starts;
    if (!state_->plan.starts) throw Error(Status::kDeviceFault, "fake device: it does not start");
    return std::make_unique<FakeEngine>(
        state_, BackendRegistry::instance().find_usable(state_->plan.inner).make_engine({}));
  }

 private:
  std::shared_ptr<FakeState> state_;
};

}  // namespace

std::unique_ptr<Backend> make_fake_backend(FakePlan plan) {
  return std::make_unique<FakeBackend>(std::move(plan));
}

FakePlan fake_plan_from_environment() {
  FakePlan plan;
  const char* text = std::getenv("HEMSTITCH_FAKE");
  std::istringstream words(text != nullptr ? text : "");
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals),
                      value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const auto number = [&] { return std::strtoull(value.c_str(), nullptr, 10); };
    if (key == "inner")
      plan.inner = value;
    else if (key == "start_us")
      plan.start = std::chrono::microseconds(number());
    else if (key == "delay_us")
      plan.delay = std::chrono::microseconds(number());
    else if (key == "stage_us")
      plan.stage = std::chrono::microseconds(number());
    else if (key == "memory")
      plan.device_bytes_per_byte = number();
    else if (key == "oom")
      plan.out_of_memory_calls.insert(number());
    else if (key == "fail")
      plan.failing_block_calls.insert(number());
    else if (key == "wrong")
      plan.wrong_bytes_calls.insert(number());
    else if (key == "lost")
      plan.lost_from_call = number();
    else if (key == "auto")
      plan.chosen_by_auto = true;
    else if (key == "nostart")
      plan.starts = false;
    else if (key == "unavailable")
      plan.unavailable_reason = value;
    else
      throw Error(Status::kInvalidOption,
                  fmt::format("HEMSTITCH_FAKE has '{}', it takes inner, start_us, delay_us, "
                              "stage_us, oom, fail, wrong, lost, memory, auto, nostart, "
                              "unavailable",
                              word));
  }
  return plan;
}

}  // namespace hemstitch
