// Restoring DEFLATE in the batch interface on a CUDA device: headers are read, the data behind them is restored, trailers are verified.
// Its CPU twin is restore_deflate_stream_reference (format/deflate/frame/deflate_stream_reference.hpp).
//
//   open_streams    one warp a stream: where its DEFLATE data is; a stream whose header is refused gets no data
//   checksums       of gzip headers, of zlib's dictionaries
//   restore         deflate_restore_cuda.hpp
//   checksums       of contents
//   judge_streams   one thread a stream: its status, which is the first one that is not OK of header, DEFLATE and trailer
//
// Raw DEFLATE has neither header nor trailer and takes only the middle step. No shared memory.
#include "batch/batch_layout.hpp"
#include "batch/deflate_batch_device.hpp"
#include "format/deflate/frame/deflate_head.hpp"
#include "format/deflate/restore/deflate_restore_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"

namespace hemstitch {
namespace {

using cuda::Carver;
using cuda::DeviceRestore;

constexpr unsigned kThreads = 128, kWarps = kThreads / 32;

struct HeadArrays {
  Status* d_statuses;
  // The bytes that the header's checksum covers (no bytes if it has none), the value that it states, and the value found.
  const std::byte** d_checked;
  std::size_t* d_checked_bytes;
  std::uint32_t* d_expected;
  std::uint32_t* d_found;
  // The stream's DEFLATE data and the room for its content; no data if the header is refused.
  const std::byte** d_data;
  std::size_t* d_data_bytes;
  std::size_t* d_capacities;
  std::uint32_t* d_history_bytes;  // 0 if the header names no dictionary
};

__global__ void __launch_bounds__(kThreads)
    open_streams(const DeviceRestore batch, const Format format, const HeadArrays heads) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (i >= batch.count) return;
  if (threadIdx.x % 32 == 0) cuda::trace_mark(cuda::kTraceOpenStream, static_cast<std::uint32_t>(i));
  const std::byte* const begin = batch.d_blocks[i];
  const std::uint64_t size = batch.d_block_bytes[i], capacity = batch.d_capacities[i];
  const std::uint32_t history_bytes = batch.d_history_bytes == nullptr ? 0 : batch.d_history_bytes[i];
  DeflateHead head;
  if (size > batch.max_block_bytes || capacity > batch.max_capacity)
    head.status = Status::kInvalidOption;
  else
    head = read_deflate_head(format, begin, size, history_bytes != 0);
  if (threadIdx.x % 32 != 0) return;
  const bool opened = head.status == Status::kOk;
  // A stream without an output has no history, so no dictionary either.
  bool checked = opened && head.has_checksum;
  if (format == Format::kZlib && batch.d_outputs == nullptr) checked = false;
  heads.d_statuses[i] = head.status;
  heads.d_checked[i] = !checked                  ? nullptr
                       : format == Format::kZlib ? batch.d_outputs[i] - history_bytes
                                                 : begin;
  heads.d_checked_bytes[i] = !checked ? 0 : format == Format::kZlib ? history_bytes : head.bytes - 2;
  heads.d_expected[i] = head.checksum;
  heads.d_data[i] = opened ? begin + head.bytes : nullptr;
  heads.d_data_bytes[i] = opened ? size - head.bytes - deflate_trailer_bytes(format) : 0;
  heads.d_capacities[i] = opened ? deflate_stream_room(format, capacity) : 0;
  heads.d_history_bytes[i] = deflate_head_names_dictionary(format, head) ? history_bytes : 0;
}

// On entry, the statuses and sizes of `batch` describe the DEFLATE data alone. `d_content_checksums` may be null.
__global__ void __launch_bounds__(kThreads)
    judge_streams(const DeviceRestore batch, const Format format, const HeadArrays heads,
                  const std::uint32_t* d_content_checksums) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= batch.count) return;
  cuda::trace_mark(cuda::kTraceJudgeStream, static_cast<std::uint32_t>(i));
  Status status = heads.d_statuses[i];
  if (status == Status::kOk && heads.d_checked_bytes[i] != 0) {
    DeflateHead head;
    head.checksum = heads.d_expected[i];
    status = deflate_head_checksum_status(format, head, heads.d_found[i]);
  }
  if (status == Status::kOk) {
    status = static_cast<Status>(batch.d_statuses[i]);
    if (status == Status::kOutputTooSmall) status = deflate_stream_too_large(format, batch.d_capacities[i]);
  }
  if (status == Status::kOk)
    status = deflate_trailer_status(format, heads.d_data[i] + heads.d_data_bytes[i], batch.d_output_bytes[i],
                                    d_content_checksums != nullptr,
                                    d_content_checksums == nullptr ? 0 : d_content_checksums[i]);
  if (status != Status::kOk) batch.d_output_bytes[i] = 0;
  batch.d_statuses[i] = static_cast<hemstitch_status>(status);
}

constexpr cuda::KernelBudget kOpenBudget("batch.open_streams", "open_streams",
                                         {.threads = kThreads, .registers = 48});
constexpr cuda::KernelBudget kJudgeBudget("batch.judge_streams", "judge_streams",
                                          {.threads = kThreads, .registers = 40});
const cuda::KernelRegistration kOpenRegistration(kOpenBudget, open_streams);
const cuda::KernelRegistration kJudgeRegistration(kJudgeBudget, judge_streams);

DeviceRestore restore_batch(const hemstitch_deflate_streams& streams, std::size_t max_output_bytes) {
  return {.d_blocks = reinterpret_cast<const std::byte* const*>(streams.streams),
          .d_block_bytes = streams.stream_bytes,
          .count = streams.count,
          .max_capacity = max_output_bytes,
          .max_block_bytes = streams.max_stream_bytes};
}

struct RestoreTemp {
  Carver carver;
  HeadArrays heads{};
  std::uint32_t* d_content_checksums = nullptr;
  std::size_t restore_bytes;
  std::byte* d_restore;

  RestoreTemp(const DeviceRestore& batch, Format format, void* d_temp)
      : carver(d_temp), restore_bytes(cuda::restore_deflate_cuda_scratch_bytes(batch)) {
    if (format != Format::kDeflate) {
      heads.d_statuses = carver.take<Status>(batch.count);
      heads.d_checked = carver.take<const std::byte*>(batch.count);
      heads.d_checked_bytes = carver.take<std::size_t>(batch.count);
      heads.d_expected = carver.take<std::uint32_t>(batch.count);
      heads.d_found = carver.take<std::uint32_t>(batch.count);
      heads.d_data = carver.take<const std::byte*>(batch.count);
      heads.d_data_bytes = carver.take<std::size_t>(batch.count);
      heads.d_capacities = carver.take<std::size_t>(batch.count);
      heads.d_history_bytes = carver.take<std::uint32_t>(batch.count);
      d_content_checksums = carver.take<std::uint32_t>(batch.count);
    }
    d_restore = carver.take<std::byte>(restore_bytes);
  }
};

unsigned grid_for(std::uint64_t count, unsigned a_block) {
  return static_cast<unsigned>((count + a_block - 1) / a_block);
}

}  // namespace

std::size_t deflate_restore_temp_bytes(const hemstitch_deflate_streams& streams, Format format,
                                       std::size_t max_output_bytes) {
  cuda::need_device();
  return RestoreTemp(restore_batch(streams, max_output_bytes), format, nullptr).carver.bytes();
}

void deflate_restore_async(const hemstitch_deflate_streams& streams, Format format, void* const* d_outputs,
                           const std::size_t* d_capacities, std::size_t max_output_bytes,
                           const std::uint32_t* d_history_bytes, std::size_t* d_output_bytes,
                           hemstitch_status* d_statuses, BatchTemp temp, hemstitch_stream stream) {
  cuda::need_device();
  DeviceRestore batch = restore_batch(streams, max_output_bytes);
  batch.d_outputs = reinterpret_cast<std::byte* const*>(d_outputs);
  batch.d_capacities = d_capacities;
  batch.d_history_bytes = d_history_bytes;
  batch.d_output_bytes = d_output_bytes;
  batch.d_statuses = d_statuses;
  const RestoreTemp memory(batch, format, temp.d_temp);
  cuda::check_scratch("deflate_restore", memory.carver.bytes(), temp.d_temp, temp.bytes);
  if (batch.count == 0) return;
  if (format == Format::kDeflate)
    return cuda::restore_deflate_cuda(batch, memory.d_restore, memory.restore_bytes, stream);

  const HeadArrays& heads = memory.heads;
  const Checksum kind = format == Format::kZlib ? Checksum::kAdler32 : Checksum::kCrc32;
  cuda::launch({.kernel = kOpenBudget, .grid = grid_for(batch.count, kWarps), .stream = stream}, open_streams,
               batch, format, heads);
  // Headers of BGZF blocks have no checksum. Without histories, no zlib stream that names a dictionary is opened.
  if (format == Format::kGzip || (format == Format::kZlib && d_history_bytes != nullptr))
    deflate_checksums_async(kind, reinterpret_cast<const void* const*>(heads.d_checked),
                            heads.d_checked_bytes, batch.count, heads.d_found, stream);
  DeviceRestore data = batch;
  data.d_blocks = heads.d_data;
  data.d_block_bytes = heads.d_data_bytes;
  data.d_capacities = heads.d_capacities;
  data.d_history_bytes = heads.d_history_bytes;
  cuda::restore_deflate_cuda(data, memory.d_restore, memory.restore_bytes, stream);
  if (d_outputs != nullptr)
    deflate_checksums_async(kind, d_outputs, d_output_bytes, batch.count, memory.d_content_checksums, stream);
  cuda::launch({.kernel = kJudgeBudget, .grid = grid_for(batch.count, kThreads), .stream = stream},
               judge_streams, batch, format, heads,
               d_outputs == nullptr ? nullptr : memory.d_content_checksums);
}

}  // namespace hemstitch
