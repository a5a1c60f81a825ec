#include "format/deflate/stream/deflate_piece_device_cuda.hpp"

#include <algorithm>
#include <utility>

#include "gpu/cuda/nvtx_range.hpp"

namespace hemstitch::cuda {
namespace {

void copy_async(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, const Stream& stream) {
  if (bytes != 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream.get()), "cudaMemcpyAsync");
}

std::size_t input_bytes(const DeflateDeviceLimits& limits) { return limits.lead_bytes + limits.piece_bytes; }

DeflatePieceLimits limits_of_pieces(const DeflateDeviceLimits& limits) {
  return deflate_piece_limits(input_bytes(limits), limits.content_bytes);
}

}  // namespace

std::uint64_t cuda_pieces_bytes(const DeflateDeviceLimits& limits) {
  return limits.inputs * std::uint64_t{input_bytes(limits)} +
         limits.outputs * std::uint64_t{limits.content_bytes} +
         limits.rooms * (restore_deflate_piece_cuda_scratch_bytes(limits_of_pieces(limits)) +
                         std::uint64_t{kDeflateWindowBytes});
}

struct CudaPieces::Input {
  Input(std::size_t size, const Stream& stream, DevicePool& pool) : bytes(size, stream.get(), pool) {}

  DeviceBuffer<std::byte> bytes;
  bool is_empty = true;  // no part of a piece has been sent to it
  Event begin{Event::Kind::kTiming}, end{Event::Kind::kTiming};
};

struct CudaPieces::Output {
  Output(std::size_t size, const Stream& stream, DevicePool& pool) : bytes(size, stream.get(), pool) {}

  DeviceBuffer<std::byte> bytes;
  Event left;  // what was there has been downloaded
};

struct CudaPieces::Room {
  Room(std::size_t scratch_bytes, Device& device)
      : scratch(scratch_bytes, stream.get(), device.memory()),
        window(kDeflateWindowBytes, stream.get(), device.memory()),
        h_window(device.pinned().take(kDeflateWindowBytes)),
        h_mailbox(device.pinned().take(kDeflateMailboxBytes)) {}

  Stream stream;
  DeviceBuffer<std::byte> scratch, window;
  PinnedPool::Block h_window, h_mailbox;
  // These belong to the current piece.
  DeflatePieceInput piece;
  DeflatePieceBegun begun;
  std::uint64_t base_bits = 0;  // where the piece begins in the input
};

struct CudaPieces::Interval {
  explicit Interval(const Stream& stream) { begin.record(stream.get()); }

  Event begin{Event::Kind::kTiming}, end{Event::Kind::kTiming};
};

CudaPieces::CudaPieces(Device& device, const DeflateDeviceLimits& limits, DeviceClock* clock)
    : device_(device), limits_(limits), piece_limits_(limits_of_pieces(limits)), clock_(clock) {
  device_.make_current();
  const std::size_t scratch_bytes = restore_deflate_piece_cuda_scratch_bytes(piece_limits_);
  for (unsigned i = 0; i < limits_.rooms; ++i)
    rooms_.push_back(std::make_unique<Room>(scratch_bytes, device_));
  const Stream& stream = rooms_[0]->stream;
  for (unsigned i = 0; i < limits_.inputs; ++i)
    inputs_.push_back(std::make_unique<Input>(input_bytes(limits_), stream, device_.memory()));
  for (unsigned i = 0; i < limits_.outputs; ++i)
    outputs_.push_back(std::make_unique<Output>(limits_.content_bytes, stream, device_.memory()));
  for (const auto& room : rooms_) room->stream.synchronize();  // other streams use this memory
  if (clock_ != nullptr) clock_->start(stream);
}

CudaPieces::~CudaPieces() {
  for (const Stream* const stream : {&up_, &down_}) cudaStreamSynchronize(stream->get());
  for (const auto& room : rooms_) cudaStreamSynchronize(room->stream.get());
}

LargeBuffer CudaPieces::make_host_memory(std::size_t bytes) {
  try {
    device_.make_current();
    const auto block = std::make_shared<PinnedPool::Block>(device_.pinned().take(bytes));
    return LargeBuffer(std::shared_ptr<std::byte>(block, block->span().data()));
  } catch (const Error&) {
    return LargeBuffer(bytes);  // the driver can copy from it as well
  }
}

void CudaPieces::upload(unsigned number, std::size_t at, std::span<const std::byte> bytes) {
  device_.make_current();
  Input& input = *inputs_[number];
  if (std::exchange(input.is_empty, false)) input.begin.record(up_.get());
  copy_async(input.bytes.get() + at, bytes.data(), bytes.size(), cudaMemcpyHostToDevice, up_);
  input.end.record(up_.get());
}

void CudaPieces::carry(unsigned from, std::size_t from_at, std::size_t bytes, unsigned to, unsigned room) {
  device_.make_current();
  const Stream& stream = rooms_[room]->stream;
  inputs_[from]->end.hold(stream.get());
  copy_async(inputs_[to]->bytes.get() + limits_.lead_bytes - bytes, inputs_[from]->bytes.get() + from_at,
             bytes, cudaMemcpyDeviceToDevice, stream);
}

// Does what can be done before the link and the window are known. `begin_bits` is the link, or any place of
// the input before it.
void CudaPieces::begin(Room& room, Input& input, std::uint64_t begin_bits, std::size_t end, bool members) {
  const NvtxRange range("engine.begin_piece");
  input.end.hold(room.stream.get());
  const auto base = static_cast<std::size_t>(begin_bits / 8);
  room.base_bits = base * std::uint64_t{8};
  room.piece = {.d_bytes = input.bytes.get() + base,
                .bytes = end - base,
                .begin_bits = begin_bits % 8,
                .d_window = room.window.get(),
                .window_bytes = kDeflateWindowBytes,
                .members = members,
                .h_mailbox = room.h_mailbox.span().data()};
  room.begun = begin_deflate_piece_cuda(room.piece, piece_limits_, room.scratch.get(), room.scratch.count(),
                                        room.stream.get());
}

void CudaPieces::tell(const Interval& interval) {
  if (clock_ != nullptr)
    clock_->tell(Stage::kKernel, clock_->line().next_batch(), interval.begin, interval.end);
}

void CudaPieces::prepare(const DeflatePieceToPrepare& work) {
  device_.make_current();
  Room& room = *rooms_[work.room];
  Interval interval(room.stream);
  begin(room, *inputs_[work.input], work.begin * std::uint64_t{8}, work.end, work.members);
  interval.end.record(room.stream.get());
  room.stream.synchronize();
  tell(interval);
}

DeflatePieceRestored CudaPieces::restore(const DeflatePieceWork& work) {
  const NvtxRange range("engine.restore_piece");
  device_.make_current();
  Input& input = *inputs_[work.input];
  Output& output = *outputs_[work.output];
  Room& room = *rooms_[work.room];
  cudaStream_t const stream = room.stream.get();
  std::ranges::copy(work.window, room.h_window.span().begin());
  copy_few_bytes_cuda(room.window.get(), room.h_window.span().data(), work.window.size(), stream);
  const auto finish = [&] {
    room.piece.begin_bits = work.begin_bits - room.base_bits;
    room.piece.window_bytes = static_cast<std::uint32_t>(work.window.size());
    return finish_deflate_piece_cuda(room.piece, room.begun, piece_limits_, output.bytes.get(),
                                     output.bytes.count(), room.scratch.get(), room.scratch.count(), stream);
  };
  Interval interval(room.stream);
  if (!work.prepared) begin(room, input, work.begin_bits, work.end, work.members);
  output.left.hold(stream);
  std::optional<DeflatePieceResult> found = finish();
  if (!found && work.prepared) {
    begin(room, input, work.begin_bits, work.end, work.members);
    found = finish();
  }
  if (!found) throw Error(Status::kDeviceFault, "the beginning of a piece is not among its starts");
  interval.end.record(stream);
  const DeflatePieceResult& result = *found;
  const std::uint64_t base_bits = room.base_bits;

  DeflatePieceRestored restored{.end_bits = result.end_bits + base_bits,
                                .content_bytes = result.content_bytes,
                                .ended = result.ended,
                                .crc32 = result.crc32};
  std::uint64_t content_at = 0;
  for (const auto& member : result.members) {
    // If nothing was restored after this member, it is the end of the current stream.
    if (member.next_begin_bits == 0) {
      restored.end_bits = member.end_bits + base_bits;
      restored.content_bytes = member.content_end;
      restored.ended = true;
      restored.crc32 = member.crc32;
      break;
    }
    restored.members.push_back(
        {member.end_bits + base_bits, member.content_end, member.next_begin_bits + base_bits, member.crc32});
    content_at = member.content_end;
  }
  const auto last_bytes = static_cast<std::size_t>(
      std::min<std::uint64_t>(restored.content_bytes - content_at, kDeflateWindowBytes));
  copy_few_bytes_cuda(room.h_window.span().data(), output.bytes.get() + restored.content_bytes - last_bytes,
                      last_bytes, stream);
  room.stream.synchronize();
  restored.last_bytes.assign(room.h_window.span().data(), room.h_window.span().data() + last_bytes);
  if (clock_ != nullptr && !std::exchange(input.is_empty, true))
    clock_->tell(Stage::kUpload, clock_->line().next_batch(), input.begin, input.end);
  tell(interval);
  return restored;
}

std::shared_ptr<CudaPieces::Download> CudaPieces::take_download() {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_downloads_.empty()) {
      auto download = std::move(idle_downloads_.back());
      idle_downloads_.pop_back();
      return download;
    }
  }
  return std::make_shared<Download>();
}

std::uint64_t CudaPieces::download(unsigned number, std::uint64_t at, std::span<std::byte> to) {
  device_.make_current();
  Output& output = *outputs_[number];
  const auto download = take_download();
  download->begin.record(down_.get());
  // cudaMemcpyDefault: `to` may be any memory.
  copy_async(to.data(), output.bytes.get() + at, to.size(), cudaMemcpyDefault, down_);
  download->end.record(down_.get());
  download->passed.record(down_.get());
  output.left.record(down_.get());
  const std::scoped_lock lock(mutex_);
  download->number = ++download_count_;
  downloads_.push_back(download);
  return download->number;
}

void CudaPieces::wait(std::uint64_t number) {
  device_.make_current();
  for (;;) {
    std::shared_ptr<Download> download;
    {
      const std::scoped_lock lock(mutex_);
      if (downloads_.empty() || downloads_.front()->number > number) return;
      download = downloads_.front();
    }
    download->passed.synchronize();
    const std::scoped_lock lock(mutex_);
    if (downloads_.empty() || downloads_.front() != download) continue;  // another thread was first
    if (clock_ != nullptr)
      clock_->tell(Stage::kDownload, clock_->line().next_batch(), download->begin, download->end);
    idle_downloads_.push_back(std::move(downloads_.front()));
    downloads_.pop_front();
  }
}

}  // namespace hemstitch::cuda
