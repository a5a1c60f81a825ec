#include "pipeline/stream_restorer.hpp"

#include <algorithm>

#include "core/options.hpp"

namespace hemstitch {

StreamRestorer::~StreamRestorer() {
  if (is_lost()) static_cast<void>(decoder_.release());
}

void StreamRestorer::plan(const BlockEngine& engine, Format format, const FrameHeader& header,
                          unsigned threads, std::optional<std::uint64_t> input_bytes,
                          std::uint64_t dictionary_bytes, BatchPlan& plan) {
  const std::uint64_t planned_bytes = plan.workspace.total_bytes(), limit_bytes = options_.memory_limit_bytes;
  means_ = {.threads = limit_bytes != 0 && limit_bytes <= planned_bytes ? 1 : threads,
            .memory_bytes = limit_bytes == 0 ? 0 : limit_bytes - planned_bytes,
            .input_bytes = input_bytes,
            .loans = borrows_ ? plan.batches_in_flight : 0,
            .points = index_ != nullptr,
            .device_memory_bytes = options_.gpu_memory_limit_bytes,
            .settles = true,
            .dictionary_bytes = dictionary_bytes,
            .window_bytes = most_window_bytes(options_)};
  const StreamMemory memory = engine.stream_memory(format, header, means_);
  has_threads_ = memory.host_bytes != 0;
  on_device_ = memory.device_bytes != 0;
  if (has_threads_) plan.workspace.add("read ahead", memory.host_bytes, 1, "the frame");
  if (on_device_) plan.device_workspace.add("pieces", memory.device_bytes, 1, "the frame");
  plan.device_limit_bytes = on_device_ ? memory.device_limit_bytes : 0;
}

void StreamRestorer::begin(ResilientEngine& engine, const FrameFormat& format, const FrameHeader& header,
                           std::span<const std::byte> dictionary) {
  if (!decoder_ || !decoder_->begin_next(dictionary)) {
    decoder_ = engine.make_stream_decoder(format, header, dictionary, means_);
    decoder_process_ = {};
  }
  if (borrows_ && has_threads_) decoder_->lend_content();
  sums_up_ = format.checksum() == Checksum::kCrc32 && decoder_->content_crc32().has_value();
}

std::span<std::byte> StreamRestorer::room(std::size_t usual_bytes) {
  if (const auto room = decoder_->input_room()) return room_ = *room;
  if (input_.size() < usual_bytes) input_.resize(usual_bytes);
  return room_ = input_;
}

// Stops where the index needs a point, and continues.
StreamStep StreamRestorer::restore(std::span<const std::byte> input, std::span<std::byte> room, Input kind,
                                   std::uint64_t content_at, std::uint64_t position) {
  if (options_.between_pieces) options_.between_pieces();
  const auto restore = [&](std::span<std::byte> to) {
    return kind == Input::kPauses ? decoder_->restore_so_far(to) : decoder_->restore(input, to);
  };
  if (index_ == nullptr) return restore(room);
  const std::uint64_t ahead_bytes = decoder_->ahead_bytes();
  for (;;) {
    if (index_->wants(content_at))
      if (const auto point = decoder_->point()) {
        const std::uint64_t at = position + ahead_bytes - decoder_->ahead_bytes();
        index_->add(at * 8 - point->bits_before, content_at, point->window);
      }
    const std::uint64_t to_next = index_->bytes_to_next(content_at);
    const bool stops = to_next == 0;
    decoder_->stop_at_points(stops);
    const std::size_t room_bytes =
        stops ? room.size() : static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), to_next));
    StreamStep step = restore(room.first(room_bytes));
    if (step.input_bytes != 0 || step.output_bytes != 0 || step.ended || step.status != Status::kOk ||
        !stops || !decoder_->point())
      return step;
  }
}

void StreamRestorer::settle_all() noexcept {
  if (!decoder_ || is_lost()) return;
  try {
    decoder_->settle(decoder_->under_way());
  } catch (...) {  // the content that was under way will not come
  }
}

}  // namespace hemstitch
