// What makes a shared object a part (gpu/device_parts.hpp). HEMSTITCH_PART is the backend's name.
#include "gpu/device_parts.hpp"
#include "hemstitch/version.h"

namespace hemstitch {
// Made by cmake/device_functions.cmake.
extern const PartFunction HEMSTITCH_PART_FUNCTIONS[];
}  // namespace hemstitch

extern "C" __attribute__((visibility("default"))) const hemstitch::PartTable hemstitch_part;
const hemstitch::PartTable hemstitch_part = {
    .mark = hemstitch::kPartMark,
    .name = HEMSTITCH_PART,
    .release = HEMSTITCH_VERSION_STRING,
    .contract = hemstitch::part_contract(),
    .take_advice = [](const hemstitch::Advice& advice) { hemstitch::current_advice = advice; },
    .functions = hemstitch::HEMSTITCH_PART_FUNCTIONS,
};
