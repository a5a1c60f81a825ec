#include "gpu/cuda/kernel_trace.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::cuda {
namespace {

std::vector<const void*>& symbols() {
  static std::vector<const void*> all;
  return all;
}

// All existing traces, one for each device.
struct LivingTraces {
  std::mutex mutex;
  std::vector<const KernelTrace*> traces;
};
LivingTraces& living() {
  // Never destroyed, since devices and their traces outlive static objects.
  static auto& all = *new LivingTraces;
  return all;
}

}  // namespace

TraceSymbol::TraceSymbol(const void* symbol) { symbols().push_back(symbol); }

KernelTrace::KernelTrace(int device, std::uint32_t slot_count) : device_(device), slot_count_(slot_count) {
  check(cudaSetDevice(device), "cudaSetDevice");
  const std::size_t bytes =
      (kTraceHeaderWords + std::size_t{slot_count} * kTraceSlotWords) * sizeof(std::uint32_t);
  check(cudaHostAlloc(reinterpret_cast<void**>(&words_), bytes, cudaHostAllocMapped | cudaHostAllocPortable),
        "cudaHostAlloc");
  std::memset(words_, 0, bytes);
  TraceBuffer buffer{nullptr, slot_count};
  check(cudaHostGetDevicePointer(reinterpret_cast<void**>(&buffer.d_words), words_, 0),
        "cudaHostGetDevicePointer");
  for (const void* symbol : symbols())
    check(cudaMemcpyToSymbol(symbol, &buffer, sizeof buffer), "cudaMemcpyToSymbol");
  const std::lock_guard lock(living().mutex);
  std::erase_if(living().traces, [&](const KernelTrace* trace) { return trace->device_ == device; });
  living().traces.push_back(this);
}

KernelTrace::~KernelTrace() {
  {
    const std::lock_guard lock(living().mutex);
    std::erase(living().traces, this);
  }
  cudaSetDevice(device_);
  // After a lost context these calls fail, and nothing is left to detach or free.
  const TraceBuffer nobody;
  for (const void* symbol : symbols()) cudaMemcpyToSymbol(symbol, &nobody, sizeof nobody);
  cudaFreeHost(words_);
}

std::uint32_t KernelTrace::mark_count() const { return std::atomic_ref<std::uint32_t>(words_[0]).load(); }

std::vector<TraceRecord> KernelTrace::records() const {
  std::vector<TraceRecord> kept;
  const std::uint32_t slots = std::min(mark_count(), slot_count_);
  for (std::uint32_t slot = 0; slot < slots; slot++) {
    TraceRecord record;
    std::memcpy(&record, words_ + kTraceHeaderWords + std::size_t{slot} * kTraceSlotWords, sizeof record);
    // An empty slot was taken but not filled: its thread died in between.
    if (record.marker != 0) kept.push_back(record);
  }
  return kept;
}

std::string KernelTrace::last_record_text() {
  std::string text;
  const std::lock_guard lock(living().mutex);
  for (const KernelTrace* trace : living().traces) {
    const std::string where =
        living().traces.size() == 1 ? std::string() : fmt::format(" of device {}", trace->device_);
    const std::vector<TraceRecord> records = trace->records();
    if (records.empty()) {
      text += fmt::format("; no mark in the kernel trace{}", where);
      continue;
    }
    const TraceRecord& last = records.back();
    text += fmt::format("; last of {} marks in the kernel trace{}: {} (value {}, block {}, thread {})",
                        trace->mark_count(), where, last.marker, last.value, last.block, last.thread);
  }
  return text;
}

}  // namespace hemstitch::cuda
