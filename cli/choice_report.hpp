// What `hemstitch backends` shows about the choice of `auto`: its figures, and from which size on a device is
// used; with -vv, the rule of founding document 004 for comparison.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/recorded_run.hpp"
#include "engine/choice/auto_choice.hpp"

namespace hemstitch::cli {

// Whether there is a device, so that the size decides.
bool has_device_to_choose(const ChoiceTable& table);

std::vector<std::string> choice_lines(const ChoiceTable& table);
std::vector<std::string> rule_lines(const ChoiceTable& table);
Json choice_json(const ChoiceTable& table);

}  // namespace hemstitch::cli
