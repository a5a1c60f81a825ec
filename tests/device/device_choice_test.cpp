// Which device is used, and why none is. The choice depends only on plain facts, so it is tested without a
// GPU.
#include "gpu/cuda/device_choice.hpp"

#include <gtest/gtest.h>

namespace hemstitch::cuda {
namespace {

constexpr const char* kArchitectures = "75-real,80-real,90-real,90-virtual";

DeviceSurvey survey(std::vector<DeviceFacts> devices, int driver_version = 13000) {
  return {driver_version, 13000, {}, std::move(devices)};
}

DeviceFacts device(int index, int capability, int multiprocessors) {
  return {.index = index,
          .name = "GPU" + std::to_string(index),
          .capability = capability,
          .multiprocessors = multiprocessors};
}

TEST(CudaArchitectures, MachineCodeRunsWithinItsMajorVersion) {
  EXPECT_FALSE(runs_on(kArchitectures, 70));
  EXPECT_TRUE(runs_on(kArchitectures, 75));
  EXPECT_TRUE(runs_on(kArchitectures, 80));
  EXPECT_TRUE(runs_on(kArchitectures, 86));
  EXPECT_TRUE(runs_on(kArchitectures, 90));
  EXPECT_FALSE(runs_on("86-real", 80));
  EXPECT_FALSE(runs_on("90-real", 100));
}

TEST(CudaBus, EachGenerationCarriesTwiceWhatTheOneBeforeDid) {
  EXPECT_EQ(bus_gbps(90), 55);
  EXPECT_EQ(bus_gbps(120), 55);
  EXPECT_EQ(bus_gbps(89), 27.5);
  EXPECT_EQ(bus_gbps(75), 13.75);
}

TEST(CudaArchitectures, PtxRunsOnAllThatIsNewer) {
  EXPECT_TRUE(runs_on(kArchitectures, 100));
  EXPECT_TRUE(runs_on("75-virtual", 120));
  EXPECT_TRUE(runs_on("90", 100));
  EXPECT_FALSE(runs_on("90-virtual", 89));
  EXPECT_FALSE(runs_on("", 90));
}

TEST(CudaDeviceChoice, TakesTheLargestThatRunsOurKernels) {
  const DeviceChoice choice =
      choose_device(survey({device(0, 90, 100), device(1, 61, 200), device(2, 90, 132), device(3, 80, 132)}),
                    kArchitectures);
  ASSERT_TRUE(choice.device.has_value());
  EXPECT_EQ(choice.device->index, 2);
}

TEST(CudaDeviceChoice, TakesAllThatAreMeantWhereSeveralMayWork) {
  const DeviceSurvey four =
      survey({device(0, 90, 100), device(1, 61, 200), device(2, 90, 132), device(3, 80, 132)});
  const auto indices = [&](std::string_view wanted) {
    std::string list;
    for (const DeviceFacts& one : choose_devices(four, kArchitectures, wanted).devices)
      list += std::to_string(one.index);
    return list;
  };
  EXPECT_EQ(indices("all"), "023");  // there are no kernels for 1
  EXPECT_EQ(indices("3,1,0"), "30");
  EXPECT_EQ(indices("gpu3,gpu0"), "30");
  EXPECT_EQ(indices("gpu"), "0");
  EXPECT_EQ(indices(""), "2");
  EXPECT_EQ(indices("1"), "");
  EXPECT_EQ(choose_device(four, kArchitectures, "all").device->index, 2);
  EXPECT_NE(choose_devices(four, kArchitectures, "1").reason.find("compute capability 6.1"),
            std::string::npos);
}

TEST(CudaDeviceChoice, TakesTheFirstUsableOfThoseThatAreMeant) {
  const DeviceSurvey four =
      survey({device(0, 90, 100), device(1, 61, 200), device(2, 90, 132), device(3, 80, 132)});
  const auto index = [&](std::string_view wanted) {
    const DeviceChoice choice = choose_device(four, kArchitectures, wanted);
    return choice.device ? choice.device->index : -1;
  };
  EXPECT_EQ(index("0"), 0);
  EXPECT_EQ(index("3,0"), 3);
  EXPECT_EQ(index("1,0"), 0);  // there are no kernels for 1
  EXPECT_EQ(index("gpu2"), 2);
  EXPECT_EQ(index("gpu"), 0);
  EXPECT_NE(choose_device(four, kArchitectures, "1").reason.find("GPU1 has compute capability 6.1"),
            std::string::npos);
  EXPECT_NE(
      choose_device(four, kArchitectures, "7").reason.find("no CUDA device '7'; this machine has 0: GPU0"),
      std::string::npos);
}

TEST(CudaDeviceChoice, SaysThatThereIsNoDriver) {
  const DeviceChoice choice = choose_device(survey({}, 0), kArchitectures);
  EXPECT_FALSE(choice.device.has_value());
  EXPECT_EQ(choice.reason, "no NVIDIA driver is installed here");
}

TEST(CudaDeviceChoice, SaysThatTheDriverIsTooOld) {
  const DeviceChoice choice = choose_device(survey({}, 12040), kArchitectures);
  EXPECT_FALSE(choice.device.has_value());
  EXPECT_EQ(choice.reason,
            "the NVIDIA driver is too old: it runs CUDA 12.4, this build needs 13.0; update the driver");
  // With the same major version, an older driver is sufficient.
  DeviceSurvey older = survey({device(0, 90, 1)});
  older.driver_version = 12000;
  older.runtime_version = 12080;
  EXPECT_TRUE(choose_device(older, kArchitectures).device.has_value());
}

TEST(CudaDeviceChoice, SaysThatThereIsNoDevice) {
  const DeviceChoice choice = choose_device(survey({}), kArchitectures);
  EXPECT_FALSE(choice.device.has_value());
  EXPECT_NE(choice.reason.find("shows no device"), std::string::npos);
}

TEST(CudaDeviceChoice, SaysThatAllDevicesAreOlder) {
  const DeviceChoice choice = choose_device(survey({device(0, 61, 20), device(1, 70, 80)}), kArchitectures);
  EXPECT_FALSE(choice.device.has_value());
  EXPECT_NE(choice.reason.find("GPU0 has compute capability 6.1, GPU1 has compute capability 7.0"),
            std::string::npos)
      << choice.reason;
  EXPECT_NE(choice.reason.find(kArchitectures), std::string::npos);
}

TEST(CudaDeviceChoice, PassesOnWhatCudaSays) {
  DeviceSurvey broken = survey({});
  broken.failure = "cudaErrorSystemNotReady (802): system not yet initialized";
  EXPECT_EQ(choose_device(broken, kArchitectures).reason, broken.failure);
}

}  // namespace
}  // namespace hemstitch::cuda
