// fmt::join() stands in format.h.
#pragma once

#include <fmt/format.h>
