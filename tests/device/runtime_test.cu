// The CUDA runtime layer on a device: pools and their limits, events, checked launches, the registry's report.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "device/captured_graph.hpp"
#include "device/cuda_test.hpp"
#include "engine/registry.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/event.hpp"
#include "gpu/cuda/growing_buffer.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/occupancy.hpp"
#include "gpu/cuda/pinned_pool.hpp"

namespace hemstitch {
namespace {

using cuda::DeviceBuffer;
using cuda::DevicePool;
using cuda::PinnedPool;
using cuda::Stream;

constexpr std::uint32_t kAddThreads = 128;
constexpr std::uint32_t kAddSharedBytes = 64 * 1024;  // more than may be taken unasked

__global__ void add_through_shared(std::uint32_t* d_words, std::uint32_t count, std::uint32_t add) {
  extern __shared__ std::uint32_t sh_words[];
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  // The last words of what was asked for: a launch without them would fault.
  std::uint32_t& word = sh_words[kAddSharedBytes / 4 - 1 - threadIdx.x];
  if (i < count) word = d_words[i] + add;
  __syncthreads();
  if (i < count) d_words[i] = word;
}

constexpr cuda::KernelBudget kAddBudget("tests.add", "add_through_shared",
                                        {.threads = kAddThreads,
                                         .dynamic_shared_bytes = kAddSharedBytes,
                                         .registers = 32,
                                         .shared_bytes = kAddSharedBytes});
const cuda::KernelRegistration kAddRegistration(kAddBudget, add_through_shared);

Status status_of_throw(auto call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

class CudaRuntimeTest : public CudaTest {};

TEST_F(CudaRuntimeTest, LaunchesWithMoreSharedMemoryThanUnasked) {
  constexpr std::uint32_t kCount = 100'000;
  Stream stream;
  std::vector<std::uint32_t> words(kCount);
  std::iota(words.begin(), words.end(), 0u);
  DeviceBuffer<std::uint32_t> d_words(kCount, stream.get());
  d_words.upload(words);
  cuda::Event start(cuda::Event::Kind::kTiming), end(cuda::Event::Kind::kTiming);
  start.record(stream.get());
  cuda::launch(
      {.kernel = kAddBudget, .grid = (kCount + kAddThreads - 1) / kAddThreads, .stream = stream.get()},
      add_through_shared, d_words.get(), kCount, 5u);
  end.record(stream.get());
  d_words.download(words);
  stream.synchronize();
  EXPECT_GT(end.milliseconds_since(start), 0.0f);
  for (std::uint32_t i = 0; i < kCount; i++) ASSERT_EQ(words[i], i + 5);
}

TEST_F(CudaRuntimeTest, AnEmptyGridLaunchesNothing) {
  EXPECT_NO_THROW(cuda::launch({.kernel = kAddBudget, .grid = dim3(0)}, add_through_shared,
                               static_cast<std::uint32_t*>(nullptr), 0u, 0u));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(CudaRuntimeTest, ARefusedLaunchNamesKernelAndBatchAndLeavesNoError) {
  try {
    add_through_shared<<<1, 5000>>>(nullptr, 0, 0);  // more threads than a block may have
    cuda::check_launch("tests.add", {.block_count = 3, .bytes = 12288});
    FAIL() << "the launch was not refused";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("tests.add on 3 blocks, 12288 bytes: cudaErrorInvalid"), std::string::npos) << text;
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaRuntimeTest, LaunchesAreCapturedInAGraph) {
  Stream stream;
  DeviceBuffer<std::uint32_t> d_words(64, stream.get());
  std::vector<std::uint32_t> words(64, 0);
  d_words.upload(words);
  stream.synchronize();
  const testing::CapturedGraph graph(stream.get(), [&] {
    for (int i = 0; i < 3; i++)
      cuda::launch({.kernel = kAddBudget, .grid = 1, .stream = stream.get()}, add_through_shared,
                   d_words.get(), 64u, 1u);
  });
  graph.launch(2);
  d_words.download(words);
  stream.synchronize();
  EXPECT_EQ(words, std::vector<std::uint32_t>(64, 6));
}

TEST_F(CudaRuntimeTest, ThePoolHoldsItsLimitAndLosesNothing) {
  Stream stream;
  DevicePool pool(0, 1 << 20);
  {
    DeviceBuffer<std::byte> kept(600'000, stream.get(), pool);
    cuda::check(cudaMemsetAsync(kept.get(), 0x5a, kept.bytes(), stream.get()), "cudaMemsetAsync");
    EXPECT_EQ(status_of_throw([&] { DeviceBuffer<std::byte> more(600'000, stream.get(), pool); }),
              Status::kDeviceOutOfMemory);
    EXPECT_EQ(status_of_throw([&] { DeviceBuffer<std::byte> more(SIZE_MAX, stream.get(), pool); }),
              Status::kDeviceOutOfMemory);
    EXPECT_EQ(pool.used_bytes(), 600'000u);
    DeviceBuffer<std::byte> fits((1 << 20) - 600'000, stream.get(), pool);
    std::vector<std::byte> bytes(kept.count());
    kept.download(bytes);
    stream.synchronize();
    EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0x5a}; }));
  }
  EXPECT_EQ(pool.used_bytes(), 0u);
  EXPECT_EQ(pool.peak_bytes(), std::size_t{1} << 20);
}

TEST_F(CudaRuntimeTest, MoreMemoryThanThereIsIsAnErrorAndNothingIsLost) {
  std::size_t free_bytes = 0, total_bytes = 0;
  cuda::check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  Stream stream;
  DeviceBuffer<std::byte> kept(1 << 20, stream.get());
  cuda::check(cudaMemsetAsync(kept.get(), 0x33, kept.bytes(), stream.get()), "cudaMemsetAsync");
  EXPECT_EQ(status_of_throw([&] { DeviceBuffer<std::byte> all(2 * total_bytes, stream.get()); }),
            Status::kDeviceOutOfMemory);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  DeviceBuffer<std::byte> small(1 << 20, stream.get());
  std::vector<std::byte> bytes(kept.count());
  kept.download(bytes);
  stream.synchronize();
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0x33}; }));
}

TEST_F(CudaRuntimeTest, PinnedBlocksAreUsedAgain) {
  PinnedPool pool;
  std::byte* first = nullptr;
  {
    const auto block = pool.take(100'000);
    EXPECT_EQ(block.span().size(), 100'000u);
    first = block.span().data();
  }
  EXPECT_EQ(pool.pinned_bytes(), 106'496u);  // rounded up to an eighth of 65,536
  const auto again = pool.take(106'496);
  EXPECT_EQ(again.span().data(), first);
  { const auto waits = pool.take(200'000); }
  const auto smaller = pool.take(150'000);  // rather than a new one
  EXPECT_EQ(pool.pinned_bytes(), 106'496u + 212'992u);
  const auto other = pool.take(100'000);
  EXPECT_NE(other.span().data(), first);
  cudaPointerAttributes attributes{};
  cuda::check(cudaPointerGetAttributes(&attributes, other.span().data()), "cudaPointerGetAttributes");
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
}

// Small ones are CUDA's own memory, large ones ours, pinned.
TEST_F(CudaRuntimeTest, PinnedBlocksAreFoundByWhatIsInThem) {
  PinnedPool pool;
  for (const std::size_t bytes : {std::size_t{5000}, (std::size_t{40} << 20) + 1}) {
    const auto block = pool.take(bytes);
    const std::span<std::byte> lent = block.span();
    EXPECT_EQ(pool.lent_around(lent.data()).data(), lent.data());
    EXPECT_EQ(pool.lent_around(lent.data() + bytes - 1).data(), lent.data());
    EXPECT_GE(pool.lent_around(lent.data()).size(), bytes);
    EXPECT_TRUE(pool.lent_around(lent.data() - 1).empty());
    cudaPointerAttributes attributes{};
    cuda::check(cudaPointerGetAttributes(&attributes, lent.data() + bytes - 1), "cudaPointerGetAttributes");
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    lent[bytes - 1] = std::byte{1};
  }
  std::byte elsewhere{};
  EXPECT_TRUE(pool.lent_around(&elsewhere).empty());
}

TEST_F(CudaRuntimeTest, PinnedMemoryHoldsItsLimitByGivingBackWhatWaits) {
  PinnedPool pool(1 << 20);
  { const auto waits = pool.take(1 << 19); }
  const auto all = pool.take(1 << 20);  // only if the waiting half is given back
  EXPECT_EQ(pool.pinned_bytes(), std::size_t{1} << 20);
  EXPECT_EQ(status_of_throw([&] { pool.take(1); }), Status::kDeviceOutOfMemory);
  EXPECT_EQ(status_of_throw([&] { PinnedPool().take(SIZE_MAX); }), Status::kDeviceOutOfMemory);
}

TEST_F(CudaRuntimeTest, GrowingMemoryIsKeptUntilMoreIsNeeded) {
  DevicePool pool(0);
  const Stream stream;
  cuda::GrowingBuffer<std::uint32_t> buffer(pool);
  const std::uint32_t* const d_kept = buffer.at_least(1000, stream.get());
  EXPECT_EQ(pool.used_bytes(), 4000u);
  EXPECT_EQ(buffer.at_least(10, stream.get()), d_kept);
  buffer.at_least(1001, stream.get());
  EXPECT_EQ(pool.used_bytes(), 5000u);  // a quarter more than before
  EXPECT_EQ(pool.peak_bytes(), 5000u);  // never both at once
  const std::vector<std::uint32_t> values{1, 2, 3};
  std::vector<std::uint32_t> back(values.size());
  const std::uint32_t* const d_values = buffer.upload(values, stream.get());
  cuda::check(cudaMemcpyAsync(back.data(), d_values, 12, cudaMemcpyDeviceToHost, stream.get()),
              "cudaMemcpyAsync");
  stream.synchronize();
  EXPECT_EQ(back, values);
  buffer.release();
  EXPECT_EQ(pool.used_bytes(), 0u);

  PinnedPool pinned;
  cuda::GrowingPinned host(pinned);
  const std::byte* const kept = host.at_least(4096);
  EXPECT_EQ(host.at_least(1), kept);
  host.at_least(4097);
  EXPECT_GE(pinned.lent_around(host.at_least(1)).size(), 5120u);
}

TEST_F(CudaRuntimeTest, ThreadsShareAPool) {
  DevicePool pool(0);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&pool, t] {
      Stream stream;
      for (int i = 0; i < 50; i++) {
        DeviceBuffer<std::uint32_t> words(64 * std::size_t(t + 1), stream.get(), pool);
        std::vector<std::uint32_t> values(words.count(), std::uint32_t(i));
        words.upload(values);
        cuda::launch({.kernel = kAddBudget, .grid = std::uint32_t(t + 1), .stream = stream.get()},
                     add_through_shared, words.get(), std::uint32_t(words.count()), 1u);
        words.download(values);
        stream.synchronize();
        ASSERT_EQ(values, std::vector<std::uint32_t>(values.size(), std::uint32_t(i) + 1));
      }
    });
  threads.clear();
  EXPECT_EQ(pool.used_bytes(), 0u);
}

TEST_F(CudaRuntimeTest, TheReportHoldsEveryRegisteredKernelWithinItsBudget) {
  const cuda::Device& device = cuda::open_device({});
  device.make_current();
  EXPECT_GT(device.facts().multiprocessors, 0);
  const std::vector<std::string> report = cuda::occupancy_report();
  const auto kernels = cuda::registered_kernels();
  ASSERT_EQ(report.size(), kernels.size() + 1);
  for (std::size_t i = 0; i < kernels.size(); i++) {
    std::printf("%s\n", report[i + 1].c_str());
    EXPECT_NE(report[i + 1].find(kernels[i].name()), std::string::npos);
    cudaFuncAttributes attributes{};
    ASSERT_EQ(cudaFuncGetAttributes(&attributes, kernels[i].function), cudaSuccess) << kernels[i].name();
    EXPECT_LE(attributes.numRegs, int(kernels[i].budget->limits.registers)) << kernels[i].name();
    EXPECT_EQ(attributes.localSizeBytes, 0u) << kernels[i].name();
  }
}

TEST_F(CudaRuntimeTest, TheBackendIsUsable) {
  const auto& backends = BackendRegistry::instance().backends();
  const auto cuda =
      std::find_if(backends.begin(), backends.end(), [](const auto& b) { return b->name() == "cuda"; });
  ASSERT_NE(cuda, backends.end());
  EXPECT_FALSE((*cuda)->unavailable_reason({}).has_value());
  EXPECT_FALSE((*cuda)->no_engine_reason().has_value());
  EXPECT_EQ(&BackendRegistry::instance().find_usable("cuda"), cuda->get());
  EXPECT_EQ(BackendRegistry::instance().choose("auto").name(), "cpu");
}

}  // namespace
}  // namespace hemstitch
