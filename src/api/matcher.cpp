// The public interface of finders and parses. It checks what the caller asks for; the matcher of a backend
// does the work.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "api/block_matcher.hpp"
#include "api/matcher_cuda_device.hpp"
#include "api/matcher_webgpu_device.hpp"
#include "core/between_pieces.hpp"
#include "core/call_in_pieces.hpp"
#include "core/status.hpp"
#include "gpu/device_names.hpp"
#include "gpu/device_parts.hpp"
#include "match/finders.hpp"
#include "parse/choose_matches.hpp"
#include "parse/parses.hpp"

namespace hemstitch {

namespace {

void check_history(const MatchBlock& block) {
  if (block.history_bytes > block.data.size())
    throw Error(Status::kInvalidOption, fmt::format("history_bytes is {}, but the input has {} bytes",
                                                    block.history_bytes, block.data.size()));
}

// Does nothing in builds with NDEBUG.
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
                  fmt::format("the bytes at position {} differ from those of their match", match.position));
  }
#endif
}

std::vector<std::vector<PositionedMatch>> find_by_reference(const MatchingStages& stages,
                                                            std::span<const MatchBlock> blocks) {
  std::vector<std::vector<PositionedMatch>> all;
  for (const MatchBlock& block : blocks) {
    look_between_pieces();
    all.push_back(matches_of(find_and_parse_reference(stages.finder, stages.parse,
                                                      {block.data, block.history_bytes}, stages.plan)));
  }
  return all;
}

// Runs the twins on a thread of their own.
class ReferenceWork : public PendingWork {
 public:
  ReferenceWork(const MatchingStages& stages, std::span<const MatchBlock> blocks)
      : matches_(std::async(std::launch::async, [stages, copies = std::vector(blocks.begin(), blocks.end())] {
          return find_by_reference(stages, copies);
        })) {}
  bool is_ready() override { return matches_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  std::vector<std::vector<PositionedMatch>> take() override { return matches_.get(); }
  DeviceMatches on_device() const override {
    throw Error(Status::kInvalidOption, "backend 'reference' has no device to keep matches on");
  }

 private:
  std::future<std::vector<std::vector<PositionedMatch>>> matches_;
};

class ReferenceMatcher : public BlockMatcher {
 public:
  explicit ReferenceMatcher(const MatchingStages& stages) : stages_(stages) {}
  void prepare() const override {}
  MatchRecords find_candidates(const FinderInput& input) const override {
    return find_reference(stages_.finder, input).records;
  }
  std::vector<std::vector<PositionedMatch>> find_matches(std::span<const MatchBlock> blocks) const override {
    return find_by_reference(stages_, blocks);
  }
  std::unique_ptr<PendingWork> submit(std::span<const MatchBlock> blocks) const override {
    return std::make_unique<ReferenceWork>(stages_, blocks);
  }

 private:
  MatchingStages stages_;
};

std::shared_ptr<const BlockMatcher> make_matcher(const MatchingStages& stages, std::string_view backend,
                                                 std::string_view device) {
  if (backend == "reference") return std::make_shared<ReferenceMatcher>(stages);
  constexpr unsigned kSlots = 3;  // one is uploaded, one worked on, one downloaded
  std::string names = "reference";
  for (const DevicePart part : kDeviceParts) {
    if (!is_there(part)) continue;
    if (backend == part_name(part))
      return part == DevicePart::kCuda ? make_cuda_matcher(stages, wanted_device(device), kSlots)
                                       : make_webgpu_matcher(stages, wanted_device(device), kSlots);
    names += fmt::format(", {}", part_name(part));
  }
  throw Error(Status::kUnknownBackend,
              fmt::format("backend '{}' finds no matches; choose one of: {}", backend, names));
}

}  // namespace

PendingMatches::PendingMatches(std::unique_ptr<PendingWork> work) : work_(std::move(work)) {}
PendingMatches::PendingMatches(PendingMatches&&) noexcept = default;
PendingMatches& PendingMatches::operator=(PendingMatches&&) noexcept = default;
PendingMatches::~PendingMatches() = default;
bool PendingMatches::is_ready() const { return work_->is_ready(); }
std::vector<std::vector<PositionedMatch>> PendingMatches::take() {
  if (std::exchange(taken_, true)) throw Error(Status::kInvalidOption, "these matches were already taken");
  return work_->take();
}
DeviceMatches PendingMatches::on_device() const { return work_->on_device(); }

LzssMatcher::LzssMatcher(const FinderParameters& parameters, Finder finder, std::string_view backend,
                         std::string_view device)
    : LzssMatcher(parameters, finder, Parse::kOptimal, backend, device) {}

LzssMatcher::LzssMatcher(const FinderParameters& parameters, Finder finder, Parse parse,
                         std::string_view backend, std::string_view device, BetweenPieces between_pieces)
    : parameters_(parameters),
      finder_(finder),
      parse_(parse),
      between_pieces_(std::move(between_pieces)),
      matcher_(make_matcher(stages_of(finder, parse, parameters), backend, device)) {}

void LzssMatcher::prepare() const { matcher_->prepare(); }

std::vector<std::uint32_t> LzssMatcher::find_candidates(std::span<const std::byte> input,
                                                        std::size_t history_bytes) const {
  check_history({input, history_bytes});
  const FinderInput finder_input{input, history_bytes};
  MatchRecords records;
  CallInPieces(between_pieces_).run([&] { records = matcher_->find_candidates(finder_input); });
#ifndef NDEBUG
  if (const auto wrong = first_wrong_record(finder_input, records))
    throw Error(Status::kInternal,
                fmt::format("the candidate at position {} refers to different bytes", *wrong));
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
  CallInPieces(between_pieces_).run([&] { all = matcher_->find_matches(blocks); });
  for (std::size_t b = 0; b < blocks.size(); ++b) check_matches(blocks[b], all[b]);
  return all;
}

PendingMatches LzssMatcher::submit(std::span<const MatchBlock> blocks) const {
  for (const MatchBlock& block : blocks) check_history(block);
  return PendingMatches(matcher_->submit(blocks));
}

}  // namespace hemstitch
