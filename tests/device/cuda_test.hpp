// What tests on a CUDA device derive from: skipped where there is none, unless HEMSTITCH_REQUIRE (a list with commas)
// names cuda; then its absence is a failure.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "engine/cuda/cuda_engine.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"

namespace hemstitch {

inline bool cuda_is_required() {
  const char* required = std::getenv("HEMSTITCH_REQUIRE");
  if (required == nullptr) return false;
  std::string list = ",";
  list.append(required).append(",");
  return list.find(",cuda,") != std::string::npos;
}

class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) return;
    const std::string reason = error == cudaSuccess ? "no device" : cudaGetErrorString(error);
    if (cuda_is_required()) FAIL() << "HEMSTITCH_REQUIRE names cuda, and it cannot be used: " << reason;
    GTEST_SKIP() << "no CUDA here: " << reason;
  }

  // What waits to be used again would look like a leak.
  static void TearDownTestSuite() {
    if (cuda::find_device({}).device) cuda::open_device({}).pinned().release();
  }
};

// What tests derive from whose work is on a stream.
class CudaStreamTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) stream_.emplace();
  }
  cudaStream_t stream() const { return stream_->get(); }
  void synchronize() const { stream_->synchronize(); }

  std::optional<cuda::Stream> stream_;
};

// What tests of the engine derive from: it keeps memory of the device as well.
class EngineTest : public CudaTest {
 protected:
  static void TearDownTestSuite() {
    if (cuda::find_device({}).device) cuda::CudaEngine(cuda::open_device({})).release_memory();
    CudaTest::TearDownTestSuite();
  }
};

}  // namespace hemstitch
