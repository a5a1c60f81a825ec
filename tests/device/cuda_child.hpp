// Cases that lose their CUDA context run in a process of their own: the test program calls itself with --child NAME,
// and takes the line that this prints.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

namespace hemstitch {

// In the parent: what the child said, without its line end.
inline std::string run_child(const std::string& name) {
  std::array<char, PATH_MAX> path{};
  if (realpath("/proc/self/exe", path.data()) == nullptr) return "there is no /proc/self/exe";
  const std::string command = "'" + std::string(path.data()) + "' --child '" + name + "' 2>&1";
  FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) return "the child did not start";
  std::string said;
  std::array<char, 4096> piece{};
  while (const std::size_t bytes = fread(piece.data(), 1, piece.size(), output))
    said.append(piece.data(), bytes);
  const int status = pclose(output);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (status != 0) said += " (child ended with status " + std::to_string(status) + ")";
  return said;
}

// main() of such a program. `child_case` answers for the case of that name, in the child.
inline int cuda_child_main(int argc, char** argv, std::string (*child_case)(const std::string& name)) {
  if (argc == 3 && std::strcmp(argv[1], "--child") == 0) {
    try {
      std::printf("%s\n", child_case(argv[2]).c_str());
    } catch (const std::exception& error) {
      std::printf("threw: %s\n", error.what());
    }
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace hemstitch
