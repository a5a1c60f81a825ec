// What `hemstitch backends` shows of the choice by `auto`: its figures, which sizes go where, and founding document 004's rule beside it.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/recorded_run.hpp"
#include "engine/choice/auto_choice.hpp"

namespace hemstitch::cli {

// Whether size decides anything.
bool has_device_to_choose(const ChoiceTable& table);

std::vector<std::string> choice_lines(const ChoiceTable& table);
Json choice_json(const ChoiceTable& table);

}  // namespace hemstitch::cli
