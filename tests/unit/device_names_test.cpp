// Which devices a user means, and how the name gets to the backend.
#include "gpu/device_names.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/registry.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {
namespace {

using Places = std::vector<std::size_t>;

const std::vector<std::string> kNames = {"NVIDIA H200", "NVIDIA A100", "llvmpipe (LLVM 15.0.6, 256 bits)",
                                         "NVIDIA H200"};

TEST(DeviceNames, ANumberIsAPlace) {
  EXPECT_EQ(devices_meant("1", kNames), Places{1});
  EXPECT_EQ(devices_meant(" 3 ", kNames), Places{3});
  EXPECT_EQ(devices_meant("4", kNames), Places{});
  EXPECT_EQ(devices_meant("200", kNames), Places{});  // a part of a name does not count
  EXPECT_EQ(devices_meant("99999999999999999999999", kNames), Places{});
}

TEST(DeviceNames, APartOfANameInAnyCaseIsAllThatHaveIt) {
  EXPECT_EQ(devices_meant("h200", kNames), (Places{0, 3}));
  EXPECT_EQ(devices_meant("A100", kNames), Places{1});
  EXPECT_EQ(devices_meant("radeon", kNames), Places{});
}

TEST(DeviceNames, AListIsInItsOrderEachOnce) {
  EXPECT_EQ(devices_meant("1,0", kNames), (Places{1, 0}));
  EXPECT_EQ(devices_meant("3, h200,a100,1", kNames), (Places{3, 0, 1}));
  EXPECT_EQ(devices_meant("9,radeon,2", kNames), Places{2});
}

TEST(DeviceNames, ANameMayHaveACommaAndNothingMeansNothing) {
  EXPECT_EQ(devices_meant(kNames[2], kNames), Places{2});
  EXPECT_EQ(devices_meant("", kNames), Places{});
  EXPECT_EQ(devices_meant(" , ", std::span(kNames).first(2)), Places{});
}

// Keeps the name that it was asked for.
class BackendWithDevices : public Backend {
 public:
  static std::string& asked() {
    static std::string device;
    return device;
  }
  std::string_view name() const override { return "with devices"; }
  bool has_devices() const override { return true; }
  std::string description(std::string_view) const override { return "tests only"; }
  std::optional<std::string> unavailable_reason(std::string_view device) const override {
    if (device == "none") return "no such device";
    return std::nullopt;
  }
  bool chosen_by_auto() const override { return false; }
  std::string_view fallback_name() const override { return "with devices"; }
  bool supports(Format format, Direction) const override { return format == Format::kLz4; }
  std::unique_ptr<BlockEngine> make_engine(std::string_view device) const override {
    asked() = device;
    return BackendRegistry::instance().find_usable("cpu").make_engine({});
  }
};

Status status_of_compressing(const CompressOptions& options) {
  try {
    compress(std::vector<std::byte>(1000), options);
    return Status::kOk;
  } catch (const Error& error) {
    return error.status();
  }
}

TEST(DeviceOption, ReachesTheBackend) {
  static const bool registered = [] {
    BackendRegistry::instance().add(std::make_unique<BackendWithDevices>());
    return true;
  }();
  (void)registered;
  const char* const before = std::getenv("HEMSTITCH_DEVICE");
  const std::string kept = before == nullptr ? "" : before;
  CompressOptions options;
  options.backend = "with devices";
  setenv("HEMSTITCH_DEVICE", "the user's own", 1);
  EXPECT_EQ(status_of_compressing(options), Status::kOk);
  EXPECT_EQ(BackendWithDevices::asked(), "the user's own");
  options.device = "2";
  EXPECT_EQ(status_of_compressing(options), Status::kOk);
  EXPECT_EQ(BackendWithDevices::asked(), "2");
  EXPECT_STREQ(std::getenv("HEMSTITCH_DEVICE"), "the user's own");
  if (before == nullptr)
    unsetenv("HEMSTITCH_DEVICE");
  else
    setenv("HEMSTITCH_DEVICE", kept.c_str(), 1);

  const std::vector<std::byte> frame = compress({}, {});
  RestoreOptions restore_options;
  restore_options.backend = "with devices";
  restore_options.device = "h200";
  restore(frame, restore_options);
  EXPECT_EQ(BackendWithDevices::asked(), "h200");
  options.device = "none";
  EXPECT_EQ(status_of_compressing(options), Status::kDeviceUnavailable);
}

TEST(DeviceOption, IsRefusedWhereThereIsNoneToChoose) {
  CompressOptions options;
  options.device = "0";
  for (const char* backend : {"auto", "cpu", "reference"}) {
    options.backend = backend;
    EXPECT_EQ(status_of_compressing(options), Status::kInvalidOption) << backend;
  }
}

}  // namespace
}  // namespace hemstitch
