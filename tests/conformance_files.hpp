// The files of conformance/, which lies at HEMSTITCH_CONFORMANCE_FOLDER, for tests of decoders by themselves. tests/conformance holds the tool to them, and
// content to its hash; here the reference says what a file's content is.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "shapes.hpp"

namespace hemstitch::testing {

struct ConformanceFile {
  std::string name;      // from the folder on
  std::string verdict;   // "valid", "invalid" or "choice"
  std::size_t room = 0;  // its content's size; of an invalid one, enough
  Bytes data;
};

inline std::vector<ConformanceFile> conformance_files(std::string_view format) {
  constexpr std::size_t kRoomOfInvalid = 200'000;
  const std::filesystem::path folder = HEMSTITCH_CONFORMANCE_FOLDER;
  std::ifstream table(folder / "expected.tsv");
  std::vector<ConformanceFile> files;
  for (std::string line; std::getline(table, line);) {
    std::istringstream columns(line);
    std::string name, of, verdict, size;
    columns >> name >> of >> verdict >> size;
    if (of == format)
      files.push_back(
          {name, verdict, size == "-" ? kRoomOfInvalid : std::stoul(size), read_file(folder / name)});
  }
  return files;
}

}  // namespace hemstitch::testing
