// The whole tool, so that a test build can register more backends before it runs.
#pragma once

namespace hemstitch::cli {

// Returns the exit status.
int run_tool(int argument_count, char** arguments);

}  // namespace hemstitch::cli
