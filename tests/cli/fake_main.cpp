// hemstitch-fake: the tool with the fake backend beside the real ones. HEMSTITCH_FAKE says what goes wrong.
#include "cli/tool.hpp"
#include "engine/fake/fake_backend.hpp"
#include "engine/registry.hpp"

int main(int argc, char** argv) {
  hemstitch::BackendRegistry::instance().add(
      hemstitch::make_fake_backend(hemstitch::fake_plan_from_environment()));
  return hemstitch::cli::run_tool(argc, argv);
}
