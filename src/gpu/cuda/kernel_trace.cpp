#include "gpu/cuda/kernel_trace.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::cuda {
namespace {

std::vector<const void*>& symbols() {
  static std::vector<const void*> all;
  return all;
}

std::atomic<const KernelTrace*> active_trace = nullptr;

}  // namespace

TraceSymbol::TraceSymbol(const void* symbol) { symbols().push_back(symbol); }

KernelTrace::KernelTrace(std::uint32_t slot_count) : slot_count_(slot_count) {
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
  active_trace = this;
}

KernelTrace::~KernelTrace() {
  active_trace = nullptr;
  // After a lost context these fail, and there is nothing left to detach or free.
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
    // A slot that was taken and not filled: its thread died between the two.
    if (record.marker != 0) kept.push_back(record);
  }
  return kept;
}

std::string KernelTrace::last_record_text() {
  const KernelTrace* trace = active_trace;
  if (trace == nullptr) return {};
  const std::vector<TraceRecord> records = trace->records();
  if (records.empty()) return "; no mark in the kernel trace";
  const TraceRecord& last = records.back();
  return fmt::format("; last of {} marks in the kernel trace: {} (value {}, block {}, thread {})",
                     trace->mark_count(), last.marker, last.value, last.block, last.thread);
}

}  // namespace hemstitch::cuda
