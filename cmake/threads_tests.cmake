# Tests of GoogleTest, of which some end with "WithThreads" (tests/threads.hpp): those get the label "threads". The target
# `tests_with_threads` builds every program that has such tests: what a build with ThreadSanitizer needs of them all.
include(GoogleTest)
add_custom_target(tests_with_threads)

function(discover_tests_with_threads target)
  gtest_discover_tests(${target} TEST_FILTER "-*WithThreads" DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
  gtest_discover_tests(${target} TEST_FILTER "*WithThreads" DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900 LABELS threads)
  add_dependencies(tests_with_threads ${target})
endfunction()
