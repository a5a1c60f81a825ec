// hemstitch-fake: the tool with the fake backend beside the real ones. HEMSTITCH_FAKE says what goes wrong.
// With HEMSTITCH_RUNS it also knows the format of the tests (tests/runs).
#include <cstdlib>

#include "cli/tool.hpp"
#include "engine/fake/fake_backend.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"
#include "runs/runs_format.hpp"

int main(int argc, char** argv) {
  using namespace hemstitch;
  BackendRegistry::instance().add(make_fake_backend(fake_plan_from_environment()));
  if (std::getenv("HEMSTITCH_RUNS") != nullptr) {
    FormatTable::instance().add(std::make_unique<testing::RunsFormat>());
    BackendRegistry::instance().add(std::make_unique<testing::RunsBackend>());
  }
  return cli::run_tool(argc, argv);
}
