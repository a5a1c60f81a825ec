// The kernel trace: marks arrive, are bounded, and outlive a launch that fails. Each case that loses its context runs
// in a process of its own (a "child"), since nothing in a process works on the device afterwards.
#include <cstring>
#include <string>

#include "device/cuda_child.hpp"
#include "device/cuda_test.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "parse/walk/walk.cuh"

#ifndef HEMSTITCH_KERNEL_TRACE
#error "this test marks, so it is compiled with HEMSTITCH_KERNEL_TRACE"
#endif

namespace hemstitch {
namespace {

using cuda::KernelTrace;
using cuda::TraceRecord;

__global__ void mark_each_thread() { cuda::trace_mark(7, blockIdx.x * blockDim.x + threadIdx.x); }

// Dies at the store to d_words[1] where that is misaligned, between the second mark and the third.
__global__ void mark_around_store(std::byte* d_words) {
  cuda::trace_mark(1, 10);
  cuda::trace_mark(2, 20);
  *reinterpret_cast<volatile std::uint32_t*>(d_words) = 1;
  __threadfence_system();
  cuda::trace_mark(3, 30);
}

class KernelTraceTest : public CudaTest {};

TEST_F(KernelTraceTest, KeepsOneMarkAThread) {
  EXPECT_EQ(run_child("marks"), "400 marks, 400 kept, values sum 79800");
}

TEST_F(KernelTraceTest, CountsMarksThatHaveNoRoom) {
  EXPECT_EQ(run_child("overflow"), "400 marks, 100 kept");
}

TEST_F(KernelTraceTest, MarksNothingWhereNobodyListens) { EXPECT_EQ(run_child("nobody"), "cudaSuccess"); }

TEST_F(KernelTraceTest, SurvivesALaunchThatFails) {
  const std::string answer = run_child("failed-launch");
  EXPECT_NE(answer.find("cudaErrorMisalignedAddress (716)"), std::string::npos) << answer;
  EXPECT_NE(answer.find("last launch: tests.mark_around_store"), std::string::npos) << answer;
  EXPECT_NE(answer.find("last of 2 marks in the kernel trace: 2 (value 20, block 0, thread 0)"),
            std::string::npos)
      << answer;
}

TEST_F(KernelTraceTest, GoesOnAfterALaunchThatSucceeds) {
  EXPECT_EQ(run_child("good-launch"), "3 marks, 3 kept, last 3 (value 30)");
}

// A shape of the walk that the library does not have, so that it is this file's, and marks.
TEST_F(KernelTraceTest, KernelsOfTheLibraryMarkTheirPieces) {
  EXPECT_EQ(run_child("walk"), "2 marks: (1006, 0), (1006, 1024)");
}

std::string count_text(const KernelTrace& trace) {
  return std::to_string(trace.mark_count()) + " marks, " + std::to_string(trace.records().size()) + " kept";
}

// A block that is all literals, four positions longer than one chunk.
std::string walk_two_chunks(const KernelTrace& trace) {
  constexpr unsigned kTilePositions = 8;
  constexpr std::uint32_t kBlockBytes = cuda::WalkChunk<kTilePositions>::kPositions + 4;
  struct Memory {
    DeviceBlock block;
    Sequence sequence;
    std::uint32_t count;
    std::uint64_t total;
    std::uint16_t lengths[kBlockBytes];
  };
  Memory* memory = nullptr;
  cuda::check(cudaMallocManaged(&memory, sizeof(Memory)), "cudaMallocManaged");
  std::memset(static_cast<void*>(memory), 0, sizeof(Memory));
  memory->block.block_bytes = kBlockBytes;
  cuda::walk_block<kTilePositions>
      <<<1, cuda::kWalkThreads>>>(&memory->block, cuda::StoredDecision{memory->lengths},
                                  cuda::RecordOffset<>{}, BlockPlan{.min_match_length = 4},
                                  cuda::DeviceSequences{&memory->sequence, &memory->count, &memory->total});
  cuda::check_launch("tests.walk_two_chunks");
  cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::string text = std::to_string(trace.mark_count()) + " marks:";
  for (const TraceRecord& record : trace.records())
    text += " (" + std::to_string(record.marker) + ", " + std::to_string(record.value) + "),";
  text.pop_back();
  return text;
}

std::string child_case(const std::string& name) {
  if (name == "nobody") {
    mark_each_thread<<<4, 100>>>();
    return cudaGetErrorName(cudaDeviceSynchronize());
  }
  const KernelTrace trace(0, name == "overflow" ? 100 : 1000);
  if (name == "marks" || name == "overflow") {
    mark_each_thread<<<4, 100>>>();
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if (name == "overflow") return count_text(trace);
    unsigned sum = 0;
    for (const TraceRecord& record : trace.records())
      if (record.marker == 7 && record.value == record.block * 100 + record.thread) sum += record.value;
    return count_text(trace) + ", values sum " + std::to_string(sum);
  }
  if (name == "walk") return walk_two_chunks(trace);
  std::byte* d_words = nullptr;
  cuda::check(cudaMalloc(&d_words, 64), "cudaMalloc");
  mark_around_store<<<1, 1>>>(d_words + (name == "failed-launch" ? 1 : 0));
  cuda::check_launch("tests.mark_around_store");
  try {
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  } catch (const Error& error) {
    return error.what();
  }
  const TraceRecord last = trace.records().back();
  return count_text(trace) + ", last " + std::to_string(last.marker) + " (value " +
         std::to_string(last.value) + ")";
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) { return hemstitch::cuda_child_main(argc, argv, hemstitch::child_case); }
