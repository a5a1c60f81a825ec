#include "format/stream/piece_stream.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>

namespace hemstitch {

std::size_t PieceStream::read_ahead(std::span<std::byte> to) {
  std::size_t count = 0;
  while (count < to.size()) {
    const auto from = kept_from(position_);
    if (from.empty()) break;
    const std::size_t some = std::min(from.size(), to.size() - count);
    std::memcpy(to.data() + count, from.data(), some);
    count += some;
    position_ += some;
  }
  return count;
}

std::byte PieceStream::first_byte(const StreamLink& link) const {
  if (link.taken_bits() == 0) return std::byte{0};
  const auto from = kept_from(link.bits / 8);
  return from.empty() ? std::byte{0} : from.front();
}

bool PieceStream::add(StreamStep& step, const StreamStep& done) {
  position_ += done.input_bytes;
  step.output_bytes += done.output_bytes;
  step.status = done.status;
  step.detail = done.detail;
  return done.status == Status::kOk && (done.input_bytes != 0 || done.output_bytes != 0);
}

bool PieceStream::start_threads(unsigned count, const std::function<void()>& work) {
  try {
    threads_.reserve(count);
    while (threads_.size() < count) threads_.emplace_back(work);
  } catch (const std::system_error&) {
  }
  return !threads_.empty();
}

void PieceStream::stop_threads() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
  }
  work_comes_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace hemstitch
