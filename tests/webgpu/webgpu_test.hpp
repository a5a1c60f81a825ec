// What tests on a WebGPU device derive from. Where there is no adapter they are skipped, unless HEMSTITCH_REQUIRE (a list
// with commas) names webgpu: then that is a failure. Software adapters are welcome here. ctest runs every test program once
// for each software driver (tests/webgpu/CMakeLists.txt); HEMSTITCH_DEVICE chooses another adapter.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.hpp"
#include "gpu/webgpu/device.hpp"

namespace hemstitch::testing {

inline bool webgpu_is_required() {
  const char* required = std::getenv("HEMSTITCH_REQUIRE");
  return required != nullptr && ("," + std::string(required) + ",").find(",webgpu,") != std::string::npos;
}

inline webgpu::DeviceOptions device_options() {
  const char* const wanted = std::getenv("HEMSTITCH_DEVICE");
  return {wanted == nullptr ? "" : wanted, {}, false};
}

class WebgpuTest : public ::testing::Test {
 protected:
  // One device for all tests of a program, and one whose workgroups are numbered from the last to the first.
  static void SetUpTestSuite() {
    try {
      if (!devices()[0]) {
        webgpu::DeviceOptions options = device_options();
        devices()[0] = std::make_shared<webgpu::Device>(options);
        options.reverse_workgroups = true;
        devices()[1] = std::make_shared<webgpu::Device>(options);
        std::printf("adapter: %s (%s)\n", devices()[0]->adapter().name.c_str(),
                    devices()[0]->adapter().driver.c_str());
      }
    } catch (const Error& error) {
      reason() = error.what();
    }
  }
  void SetUp() override {
    if (devices()[1]) return;
    if (webgpu_is_required()) FAIL() << "HEMSTITCH_REQUIRE names webgpu, and it cannot be used: " << reason();
    GTEST_SKIP() << reason();
  }

  static webgpu::Device& device() { return *devices()[0]; }
  static webgpu::Device& reversed_device() { return *devices()[1]; }
  static std::vector<webgpu::Device*> both_orders() { return {&device(), &reversed_device()}; }

 private:
  static std::array<std::shared_ptr<webgpu::Device>, 2>& devices() {
    // Never destroyed: at exit the drivers' own state goes before ours.
    static auto& made = *new std::array<std::shared_ptr<webgpu::Device>, 2>;
    return made;
  }
  static std::string& reason() {
    static std::string why;
    return why;
  }
};

template <typename Element>
void upload(webgpu::Device& device, const webgpu::BufferSet& buffers, webgpu::BufferId id,
            const std::vector<Element>& elements) {
  device.write(buffers[id.index], std::as_bytes(std::span(elements)));
}

template <typename Element>
std::vector<Element> download(webgpu::Device& device, const webgpu::BufferSet& buffers, webgpu::BufferId id,
                              std::size_t count) {
  std::vector<Element> elements(count);
  device.read(buffers[id.index], std::as_writable_bytes(std::span(elements)));
  return elements;
}

}  // namespace hemstitch::testing
