#include "cli/tool.hpp"

int main(int argc, char** argv) { return hemstitch::cli::run_tool(argc, argv); }
