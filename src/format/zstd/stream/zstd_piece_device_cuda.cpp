#include "format/zstd/stream/zstd_piece_device_cuda.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu/cuda/nvtx_range.hpp"

namespace hemstitch::cuda {
namespace {

void copy_bytes(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, const Stream& stream) {
  if (bytes != 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream.get()), "cudaMemcpyAsync");
}

std::size_t scratch_bytes_of(const ZstdDeviceLimits& limits) {
  return zstd_frame_scratch_bytes(static_cast<std::uint32_t>(limits.blocks), limits.content_bytes);
}

}  // namespace

std::uint64_t cuda_zstd_pieces_bytes(const ZstdDeviceLimits& limits, std::uint64_t window_bytes) {
  return limits.inputs * std::uint64_t{limits.input_bytes} +
         limits.rooms * (window_bytes + limits.content_bytes) +
         kZstdDecodedPieces * std::uint64_t{scratch_bytes_of(limits)} + zstd_frame_carry_bytes();
}

struct CudaZstdPieces::Input {
  Input(std::size_t size, const Stream& stream, DevicePool& pool) : bytes(size, stream.get(), pool) {}

  DeviceBuffer<std::byte> bytes;
  bool is_told = true;  // the clock knows of all uploads
  Event begin{Event::Kind::kTiming}, end{Event::Kind::kTiming};
};

// What a piece needs until it is resolved.
struct CudaZstdPieces::Slot {
  Slot(const ZstdDeviceLimits& limits, const DeviceBuffer<std::byte>& carry, const Stream& stream,
       Device& device)
      : scratch(scratch_bytes_of(limits), stream.get(), device.memory()),
        result(1, stream.get(), device.memory()),
        h_block_at(device.pinned().take(limits.blocks * sizeof(std::uint32_t))),
        memory{carry.get(), result.get(), scratch.get(), scratch.bytes()} {}

  DeviceBuffer<std::byte> scratch;
  DeviceBuffer<ZstdFrameResult> result;
  PinnedPool::Block h_block_at;
  ZstdFrameMemory memory;
  ZstdFramePiece piece;
  unsigned input = 0;
  bool is_told = true;  // the clock knows when content was made
  Event begin{Event::Kind::kTiming}, decoded{Event::Kind::kTiming};
  Event placing{Event::Kind::kTiming}, placed{Event::Kind::kTiming};
  Event resolving{Event::Kind::kTiming}, resolved{Event::Kind::kTiming};
};

struct CudaZstdPieces::Room {
  Room(std::size_t size, const Stream& stream, DevicePool& pool) : bytes(size, stream.get(), pool) {}

  DeviceBuffer<std::byte> bytes;  // content, behind room for a whole window
  std::size_t history_bytes = 0, content_bytes = 0;
  Event resolved, left;  // there is content; it has been downloaded
};

CudaZstdPieces::CudaZstdPieces(Device& device, const ZstdDeviceLimits& limits, std::uint64_t window_bytes,
                               DeviceClock* clock)
    : device_(device), limits_(limits), window_bytes_(static_cast<std::size_t>(window_bytes)), clock_(clock) {
  device_.make_current();
  DevicePool& pool = device_.memory();
  carry_ = DeviceBuffer<std::byte>(zstd_frame_carry_bytes(), decoding_.get(), pool);
  check(cudaMemsetAsync(carry_.get(), 0, carry_.bytes(), decoding_.get()), "cudaMemsetAsync");
  for (unsigned i = 0; i < limits_.inputs; ++i)
    inputs_.push_back(std::make_unique<Input>(limits_.input_bytes, decoding_, pool));
  for (std::size_t i = 0; i < kZstdDecodedPieces; ++i)
    slots_.push_back(std::make_unique<Slot>(limits_, carry_, decoding_, device_));
  for (unsigned i = 0; i < limits_.rooms; ++i)
    rooms_.push_back(std::make_unique<Room>(window_bytes_ + limits_.content_bytes, decoding_, pool));
  h_result_ = device_.pinned().take(sizeof(ZstdFrameResult));
  decoding_.synchronize();  // other streams use this memory
  if (clock_ != nullptr) clock_->start(decoding_);
}

CudaZstdPieces::~CudaZstdPieces() {
  for (const Stream* const stream : {&up_, &decoding_, &placing_, &resolving_, &down_})
    cudaStreamSynchronize(stream->get());
}

LargeBuffer CudaZstdPieces::make_host_memory(std::size_t bytes) {
  try {
    device_.make_current();
    const auto block = std::make_shared<PinnedPool::Block>(device_.pinned().take(bytes));
    return LargeBuffer(std::shared_ptr<std::byte>(block, block->span().data()));
  } catch (const Error&) {
    return LargeBuffer(bytes);  // the driver can copy from it as well
  }
}

void CudaZstdPieces::tell(Stage stage, const Event& begin, const Event& end) {
  if (clock_ != nullptr) clock_->tell(stage, clock_->line().next_batch(), begin, end);
}

void CudaZstdPieces::upload(unsigned number, std::size_t at, std::span<const std::byte> bytes) {
  device_.make_current();
  Input& input = *inputs_[number];
  if (std::exchange(input.is_told, false)) input.begin.record(up_.get());
  copy_bytes(input.bytes.get() + at, bytes.data(), bytes.size(), cudaMemcpyHostToDevice, up_);
  input.end.record(up_.get());
}

void CudaZstdPieces::decode(const ZstdPieceWork& work) {
  const NvtxRange range("engine.decode_piece");
  device_.make_current();
  Input& input = *inputs_[work.input];
  Slot& slot = *slots_[next_slot_ % kZstdDecodedPieces];
  if (!std::exchange(slot.is_told, true)) {
    slot.resolved.synchronize();  // its content was asked for long ago
    tell(Stage::kKernel, slot.resolving, slot.resolved);
  }
  cudaStream_t const stream = decoding_.get();
  // Its piece is placed, and what was decoded behind it comes before in this stream.
  if (stopped_ != nullptr) rewind_zstd_frame_piece(stopped_->piece, stopped_->memory, stream);
  stopped_ = nullptr;
  // One kernel reads this, once: from where it is. It may be under way for blocks that were forgotten since.
  slot.decoded.synchronize();
  std::memcpy(slot.h_block_at.span().data(), work.block_at.data(), work.block_at.size_bytes());
  slot.input = work.input;
  slot.piece = {.d_data = input.bytes.get(),
                .data_bytes = work.end,
                .d_block_at = reinterpret_cast<const std::uint32_t*>(slot.h_block_at.span().data()),
                .block_count = static_cast<std::uint32_t>(work.block_at.size()),
                .window_bytes = window_bytes_,
                .capacity = limits_.content_bytes};
  input.end.hold(stream);
  slot.resolved.hold(stream);  // it reads the scratch memory
  slot.begin.record(stream);
  decode_zstd_frame_piece(slot.piece, slot.memory, stream);
  slot.decoded.record(stream);
  ++next_slot_;
}

void CudaZstdPieces::place(std::size_t history_bytes) {
  const NvtxRange range("engine.place_piece");
  device_.make_current();
  Slot& slot = *slots_[placed_slot_ % kZstdDecodedPieces];
  slot.piece.history_bytes = static_cast<std::uint32_t>(history_bytes);
  cudaStream_t const stream = placing_.get();
  slot.decoded.hold(stream);
  slot.placing.record(stream);
  place_zstd_frame_piece(slot.piece, slot.memory, stream);
  slot.placed.record(stream);
  copy_bytes(h_result_.span().data(), slot.result.get(), sizeof(ZstdFrameResult), cudaMemcpyDeviceToHost,
             placing_);
  is_placed_.record(stream);
}

bool CudaZstdPieces::is_placed() {
  device_.make_current();
  const cudaError_t state = cudaEventQuery(is_placed_.get());
  if (state == cudaSuccess) return true;
  cudaGetLastError();  // it would be the next call's
  if (state != cudaErrorNotReady) check(state, "cudaEventQuery");
  return false;
}

ZstdPieceRestored CudaZstdPieces::placed() {
  device_.make_current();
  is_placed_.synchronize();
  Slot& slot = *slots_[placed_slot_ % kZstdDecodedPieces];
  Input& input = *inputs_[slot.input];
  if (!std::exchange(input.is_told, true)) tell(Stage::kUpload, input.begin, input.end);
  tell(Stage::kKernel, slot.begin, slot.decoded);
  tell(Stage::kKernel, slot.placing, slot.placed);
  ZstdFrameResult result;
  std::memcpy(&result, h_result_.span().data(), sizeof result);
  ZstdPieceRestored restored;
  restored.blocks = result.blocks;
  restored.content_bytes = static_cast<std::size_t>(result.content_bytes);
  std::copy_n(result.repeats, restored.repeats.size(), restored.repeats.begin());
  using Stop = ZstdPieceRestored::Stop;
  restored.stop = result.stop == ZstdFrameStop::kNone   ? Stop::kNone
                  : result.stop == ZstdFrameStop::kRoom ? Stop::kRoom
                                                        : Stop::kDoubt;
  content_bytes_ = restored.content_bytes;
  ++placed_slot_;
  if (restored.stop != Stop::kNone) {
    stopped_ = &slot;
    next_slot_ = placed_slot_;
  }
  return restored;
}

void CudaZstdPieces::resolve(unsigned number) {
  const NvtxRange range("engine.resolve_piece");
  device_.make_current();
  Room& room = *rooms_[number];
  Slot& slot = *slots_[(placed_slot_ - 1) % kZstdDecodedPieces];
  const std::size_t history_bytes = slot.piece.history_bytes;
  slot.piece.d_content = room.bytes.get() + window_bytes_;
  cudaStream_t const stream = resolving_.get();
  room.left.hold(stream);
  slot.resolving.record(stream);
  // placed() has waited for what this needs of the placing stream.
  if (history_bytes != 0)
    copy_bytes(slot.piece.d_content - history_bytes,
               last_room_->bytes.get() + window_bytes_ + last_room_->content_bytes - history_bytes,
               history_bytes, cudaMemcpyDeviceToDevice, resolving_);
  resolve_zstd_frame_piece(slot.piece, slot.memory, stream);
  slot.resolved.record(stream);
  room.resolved.record(stream);
  room.history_bytes = history_bytes;
  room.content_bytes = content_bytes_;
  slot.is_told = clock_ == nullptr;
  last_room_ = &room;
}

std::shared_ptr<CudaZstdPieces::Download> CudaZstdPieces::take_download() {
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

std::uint64_t CudaZstdPieces::download(unsigned number, std::size_t at, std::span<std::byte> to) {
  device_.make_current();
  Room& room = *rooms_[number];
  const auto download = take_download();
  room.resolved.hold(down_.get());
  download->begin.record(down_.get());
  // cudaMemcpyDefault: `to` may be any memory.
  copy_bytes(to.data(), room.bytes.get() + window_bytes_ - room.history_bytes + at, to.size(),
             cudaMemcpyDefault, down_);
  download->end.record(down_.get());
  download->passed.record(down_.get());
  room.left.record(down_.get());
  const std::scoped_lock lock(mutex_);
  download->number = ++download_count_;
  downloads_.push_back(download);
  return download->number;
}

void CudaZstdPieces::wait(std::uint64_t number) {
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
    tell(Stage::kDownload, download->begin, download->end);
    idle_downloads_.push_back(std::move(downloads_.front()));
    downloads_.pop_front();
  }
}

}  // namespace hemstitch::cuda
