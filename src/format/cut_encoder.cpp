#include "format/cut_encoder.hpp"

#include "core/parallel.hpp"

namespace hemstitch {
namespace {

// Of content for each thread: a few parts, so that all of them end at about the same time.
constexpr std::size_t kPartsOfThread = 4;

}  // namespace

CutEncoder::CutEncoder(const Codec& codec, const EncodeParameters& parameters, const ContentCuts& cuts,
                       std::size_t (*room_bytes)(std::size_t content_bytes), unsigned threads)
    : codec_(codec),
      parameters_(parameters),
      cuts_(cuts),
      room_bytes_(room_bytes),
      threads_(threads),
      kept_bytes_(threads * kPartsOfThread * (cuts.least_bytes + (std::size_t{1} << cuts.zero_bits))) {}

void CutEncoder::compress(std::span<const std::byte> content, std::vector<std::byte>& output) {
  content_.insert(content_.end(), content.begin(), content.end());
  cut(false);
  if (cut_bytes_ >= kept_bytes_) encode(output);
}

void CutEncoder::flush(std::vector<std::byte>& output) {
  cut(true);
  encode(output);
}

void CutEncoder::cut(bool all) {
  for (;;) {
    const std::span<const std::byte> left = std::span(content_).subspan(cut_bytes_);
    std::size_t bytes = cuts_.first_part_bytes(left);
    if (bytes == 0 && all) bytes = left.size();
    if (bytes == 0) return;
    parts_.push_back(bytes);
    cut_bytes_ += bytes;
  }
}

void CutEncoder::encode(std::vector<std::byte>& output) {
  std::vector<BlockTask> tasks(parts_.size());
  std::size_t room = 0;
  for (const std::size_t bytes : parts_) room += room_bytes_(bytes);
  std::vector<std::byte> data(room);
  std::size_t from = 0, to = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].input = std::span(content_).subspan(from, parts_[i]);
    tasks[i].output = std::span(data).subspan(to, room_bytes_(parts_[i]));
    from += parts_[i];
    to += tasks[i].output.size();
  }
  run_in_parallel(tasks.size(), threads_ == 1 ? tasks.size() : 1, [&](std::size_t i) {
    codec_.compress({&tasks[i], 1}, parameters_);
  });
  for (const BlockTask& task : tasks) {
    if (task.status != Status::kOk) throw Error(task.status, "a part was not compressed");
    const auto written = task.output.first(task.output_bytes);
    output.insert(output.end(), written.begin(), written.end());
  }
  content_.erase(content_.begin(), content_.begin() + static_cast<std::ptrdiff_t>(cut_bytes_));
  parts_.clear();
  cut_bytes_ = 0;
}

}  // namespace hemstitch
