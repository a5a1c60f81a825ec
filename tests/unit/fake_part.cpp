// The functions of a part that only device_parts_test.cpp loads.
#include <stdexcept>
#include <string>

#include "core/status.hpp"
#include "gpu/device_parts.hpp"

namespace hemstitch {
namespace {

int sum(int a, int b) { return a + b; }
void throw_error() { throw Error(Status::kDeviceLost, "lost in the part"); }
void throw_other() { throw std::runtime_error("thrown by the part"); }
std::string advice() { return std::string(current_advice.cuda_build); }

}  // namespace

extern const PartFunction fake_part_functions[];
const PartFunction fake_part_functions[] = {
    reinterpret_cast<PartFunction>(&sum), reinterpret_cast<PartFunction>(&throw_error),
    reinterpret_cast<PartFunction>(&throw_other), reinterpret_cast<PartFunction>(&advice)};

}  // namespace hemstitch
