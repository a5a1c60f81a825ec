// Parts: the code of a device in a shared object of its own, libhemstitch-cuda.so.0 or libhemstitch-webgpu.so.0, which is loaded when
// a device is wanted. One tool and one library then serve machines with and without a GPU.
//
// A part holds a copy of the library, hidden, with its device linked in, and one symbol: hemstitch_part, a table of functions. Functions
// that a device has are declared in headers which src/CMakeLists.txt lists. cmake/device_functions.cmake makes a table of them
// for the part, and, where a device is not linked in, a function of the same name that calls the table's. C++ types cross it,
// so a part must be of the same release, the same headers and the same compiler: their contract is compared first.
//
// What is thrown in a part is caught outside by its type's name, as libstdc++ compares types. A part is never unloaded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/advice.hpp"

namespace hemstitch {

enum class DevicePart { kCuda, kWebgpu };
inline constexpr std::array kDeviceParts = {DevicePart::kCuda, DevicePart::kWebgpu};

using PartFunction = void (*)();

// The symbol hemstitch_part. The members before `take_advice` are the same in every release, so that a part of another one is
// recognised.
struct PartTable {
  std::uint64_t mark;
  const char* name;      // of the backend
  const char* release;   // HEMSTITCH_VERSION_STRING
  const char* contract;  // part_contract()
  // Called once after loading: the part has a copy of what messages advise.
  void (*take_advice)(const Advice& advice);
  const PartFunction* functions;
};
inline constexpr std::uint64_t kPartMark = 0x5452'4150'4d45'4800;  // "\0HEMPART" in memory

// What both sides are made of: a hash of all headers and of what makes the tables, and the compiler. Made by cmake/part_contract.cmake.
const char* part_contract();

// Whether the code of the device is in this program or library itself. Made by cmake/device_functions.cmake.
extern const bool cuda_is_linked_in;
extern const bool webgpu_is_linked_in;

// The backend's name.
std::string_view part_name(DevicePart part);
// Whether the device's code is linked in, or there is a file that should hold it. Loads nothing. Thread safety: any thread.
bool is_linked_in(DevicePart part);
bool is_there(DevicePart part);

// The folder of the file that holds this code, or empty where that is not known by an absolute path. Never depends on the
// current folder or on how the program was called.
std::string own_folder();

// Where Python's packages lie, for a tool that pip installed in `folder`: PREFIX/lib/python3.X/site-packages for PREFIX/bin, else nowhere.
std::vector<std::string> python_packages(std::string_view folder);

// The part's file, looked for beside our own file, in hemstitch/ there, in the folders of libraries beside the folder of programs, and,
// for a tool that pip installed, in Python's package hemstitch. Empty if there is none.
std::string find_part(std::string_view folder, std::string_view name);

struct LoadedPart {
  const PartTable* table = nullptr;
  std::string reason;  // why there is no table
};

// Loads a file as the part with this name. A file that is cut off, is something else or has another contract gives a reason.
// Throws std::bad_alloc.
LoadedPart load_part(const std::string& path, std::string_view name);

// Loads the part at the first call. Says why it cannot be used, or nothing. Thread safety: any thread.
const std::string& part_failure(DevicePart part);

// A function of the part, which the first call loads. Throws kDeviceUnavailable, with the reason, where it cannot be. Thread safety: any
// thread.
PartFunction part_function(DevicePart part, std::size_t index);

}  // namespace hemstitch
