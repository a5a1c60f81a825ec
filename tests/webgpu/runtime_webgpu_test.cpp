// The runtime: what can be said without a device, and what a device answers to mistakes.
#include <gtest/gtest.h>

#include "device/webgpu/shader_text.hpp"
#include "webgpu_test.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;

class WebgpuRuntime : public testing::WebgpuTest {};

const std::vector<AdapterFacts> kAdapters = {{"llvmpipe", "", AdapterKind::kSoftware},
                                             {"Iris Xe", "", AdapterKind::kIntegrated},
                                             {"GeForce", "", AdapterKind::kDiscrete}};

TEST(WebgpuAdapterChoice, PrefersHardware) {
  EXPECT_EQ(choose_adapter(kAdapters, "").index, 2u);
  EXPECT_EQ(choose_adapter({kAdapters[0], kAdapters[1]}, "").index, 1u);
  EXPECT_EQ(choose_adapter(kAdapters, "0").index, 0u);
  EXPECT_EQ(choose_adapter(kAdapters, "iris").index, 1u);
}

TEST(WebgpuAdapterChoice, SaysWhyThereIsNone) {
  EXPECT_NE(choose_adapter({}, "").reason.find("Vulkan driver"), std::string::npos);
  EXPECT_NE(choose_adapter(kAdapters, "3").reason.find("GeForce (discrete GPU)"), std::string::npos);
  EXPECT_NE(choose_adapter(kAdapters, "radeon").reason.find("no adapter 'radeon'"), std::string::npos);
}

TEST(WebgpuShaderText, ImportsEachFileOnce) {
  const std::string text = shader_text("compact/gather/gather.wgsl");
  EXPECT_EQ(text.find("#import"), std::string::npos);
  const std::size_t first = text.find("fn workgroup_number");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("fn workgroup_number", first + 1), std::string::npos);
  EXPECT_THROW(shader_text("no/such.wgsl"), Error);
}

TEST_F(WebgpuRuntime, ATooLargeBufferIsRefusedByName) {
  DeviceOptions options = testing::device_options();
  options.limits = DeviceLimits{.binding_bytes = 4096, .buffer_bytes = 8192};
  Device limited(options);
  BufferPlan plan;
  plan.add("records", 5000);
  try {
    limited.make_buffers(plan);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInvalidOption);
    EXPECT_NE(std::string(error.what()).find("'records'"), std::string::npos);
  }
  EXPECT_THROW(limited.make_buffer("all", 9000, BufferUse::kStorage), Error);
}

TEST_F(WebgpuRuntime, AMistakeInACommandBecomesAnErrorAndTheDeviceGoesOn) {
  const Buffer small = device().make_buffer("small", 64, BufferUse::kStorage);
  const Buffer large = device().make_buffer("large", 128, BufferUse::kStorage);
  const Copy too_long{&large, 0, &small, 0, 128};
  try {
    device().submit({&too_long, 1}, {}, {}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kDeviceFault);
  }
  const std::vector<std::byte> bytes(60, std::byte{7});
  device().write(small, bytes);
  std::vector<std::byte> back(60);
  device().read(small, back);
  EXPECT_EQ(back, bytes);
}

TEST_F(WebgpuRuntime, AnUnknownAdapterIsAnError) {
  try {
    Device none(DeviceOptions{"no such GPU", {}, false});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kDeviceUnavailable);
  }
}

}  // namespace
}  // namespace hemstitch
