// The public face of the finders: one switch, one parse.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "api/pending_matches.hpp"
#include "core/status.hpp"
#include "gpu/device_names.hpp"
#include "match/finders.hpp"
#ifdef HEMSTITCH_WEBGPU
#include "api/matcher_webgpu.hpp"
#include "gpu/webgpu/devices.hpp"
#include "match/finders_webgpu.hpp"
#endif
#include "parse/choose_matches.hpp"
#include "parse/optimal/optimal.hpp"

namespace hemstitch {

namespace {

void check_history(const MatchBlock& block) {
  if (block.history_bytes > block.data.size())
    throw Error(Status::kInvalidOption, fmt::format("history_bytes is {}, but the input has {} bytes",
                                                    block.history_bytes, block.data.size()));
}

// In builds without NDEBUG.
void check_matches([[maybe_unused]] const MatchBlock& block,
                   [[maybe_unused]] const std::vector<PositionedMatch>& matches) {
#ifndef NDEBUG
  for (const PositionedMatch& match : matches) {
    const std::uint64_t at = block.history_bytes + match.position;
    const std::span<const std::byte> data = block.data;
    if (match.offset == 0 || match.offset > at || match.length > data.size() - at ||
        !std::equal(data.begin() + static_cast<std::ptrdiff_t>(at),
                    data.begin() + static_cast<std::ptrdiff_t>(at + match.length),
                    data.begin() + static_cast<std::ptrdiff_t>(at - match.offset)))
      throw Error(Status::kInternal,
                  fmt::format("what was found at position {} is no match", match.position));
  }
#endif
}

// The twins, on a thread of their own.
class ReferenceWork : public PendingWork {
 public:
  ReferenceWork(const LzssMatcher& matcher, std::span<const MatchBlock> blocks)
      : matches_(
            std::async(std::launch::async, [matcher, copies = std::vector(blocks.begin(), blocks.end())] {
              return matcher.find_matches(std::span<const MatchBlock>(copies));
            })) {}
  bool is_ready() override { return matches_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  std::vector<std::vector<PositionedMatch>> take() override { return matches_.get(); }
  DeviceMatches on_device() const override {
    throw Error(Status::kInvalidOption, "the reference backend leaves no matches on a device");
  }

 private:
  std::future<std::vector<std::vector<PositionedMatch>>> matches_;
};

}  // namespace

PendingMatches::PendingMatches(std::unique_ptr<PendingWork> work) : work_(std::move(work)) {}
PendingMatches::PendingMatches(PendingMatches&&) noexcept = default;
PendingMatches& PendingMatches::operator=(PendingMatches&&) noexcept = default;
PendingMatches::~PendingMatches() = default;
bool PendingMatches::is_ready() const { return work_->is_ready(); }
std::vector<std::vector<PositionedMatch>> PendingMatches::take() {
  if (std::exchange(taken_, true))
    throw Error(Status::kInvalidOption, "these matches have been taken already");
  return work_->take();
}
DeviceMatches PendingMatches::on_device() const { return work_->on_device(); }

LzssMatcher::LzssMatcher(const FinderParameters& parameters, Finder finder, std::string_view backend,
                         [[maybe_unused]] std::string_view device)
    : parameters_(parameters), finder_(finder) {
  check_finder_parameters(finder, parameters);
  if (backend == "reference") return;
  std::string names = "reference";
#ifdef HEMSTITCH_WEBGPU
  constexpr unsigned kSlots = 3;  // one on its way up, one worked on, one on its way back
  if (backend == "webgpu") {
    device_ = std::make_shared<webgpu::DeviceMatcher>(webgpu::open_device(wanted_device(device)), finder,
                                                      parameters, kSlots);
    return;
  }
  names += ", webgpu";
#endif
  throw Error(Status::kUnknownBackend,
              fmt::format("backend '{}' finds no matches; there is: {}", backend, names));
}

std::vector<std::uint32_t> LzssMatcher::find_candidates(std::span<const std::byte> input,
                                                        std::size_t history_bytes) const {
  check_history({input, history_bytes});
  const FinderInput finder_input{input, history_bytes};
  MatchRecords records;
#ifdef HEMSTITCH_WEBGPU
  if (device_)
    records = webgpu::find(device_->device(), finder_input, row_of(finder_).with(parameters_), false).records;
#endif
  if (!device_) records = find_reference(row_of(finder_).with(parameters_), finder_input).records;
#ifndef NDEBUG
  if (const auto wrong = first_wrong_record(finder_input, records))
    throw Error(Status::kInternal, fmt::format("the candidate at position {} is no match", *wrong));
#endif
  return records;
}

std::vector<PositionedMatch> LzssMatcher::find_matches(std::span<const std::byte> input) const {
  const MatchBlock block{input, 0};
  return std::move(find_matches(std::span(&block, 1)).front());
}

std::vector<std::vector<PositionedMatch>> LzssMatcher::find_matches(
    std::span<const MatchBlock> blocks) const {
  for (const MatchBlock& block : blocks) check_history(block);
  std::vector<std::vector<PositionedMatch>> all;
#ifdef HEMSTITCH_WEBGPU
  if (device_) all = device_->find_matches(blocks);
#endif
  if (!device_)
    for (const MatchBlock& block : blocks)
      all.push_back(matches_of(
          parse_optimal(ParseInput{find_candidates(block.data, block.history_bytes), plan_of(parameters_)},
                        costs_of(parameters_))));
  for (std::size_t b = 0; b < blocks.size(); ++b) check_matches(blocks[b], all[b]);
  return all;
}

PendingMatches LzssMatcher::submit(std::span<const MatchBlock> blocks) const {
  for (const MatchBlock& block : blocks) check_history(block);
#ifdef HEMSTITCH_WEBGPU
  if (device_) return PendingMatches(device_->submit(blocks));
#endif
  return PendingMatches(std::make_unique<ReferenceWork>(*this, blocks));
}

}  // namespace hemstitch
