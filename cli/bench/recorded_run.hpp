// Runs in the form of bench/results: one JSON object with the machine, the data and a row for each figure.
// docs/design/records.md describes it.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace hemstitch::cli {

using Json = nlohmann::ordered_json;

// Everything except the files and the rows, which are empty arrays.
Json begin_recorded_run(const std::string& device, const std::string& command_line);

// {"name", "bytes", "sha256"}
Json describe_data(const std::string& name, std::span<const std::byte> data);

// The processor's name and number of threads: the "device" of runs with backend cpu.
std::string processor_name();

}  // namespace hemstitch::cli
