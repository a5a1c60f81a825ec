// hemstitch-fake: the tool with the fake backend beside the real ones. HEMSTITCH_FAKE says what goes wrong.
// With HEMSTITCH_RUNS it also knows the format of the tests (tests/runs); if that is "reference", `cpu` does not.
#include <cstdlib>
#include <string_view>

#include "cli/tool.hpp"
#include "engine/fake/fake_backend.hpp"
#include "engine/registry.hpp"
#include "runs/runs_format.hpp"

int main(int argc, char** argv) {
  using namespace hemstitch;
  BackendRegistry::instance().add(make_fake_backend(fake_plan_from_environment()));
  if (const char* const runs = std::getenv("HEMSTITCH_RUNS"))
    FormatTable::instance().add(testing::runs_row(std::string_view(runs) != "reference"));
  return cli::run_tool(argc, argv);
}
