// Tests in which threads of ours meet. The name of such a test ends with "WithThreads"; by that ctest gives it the label
// "threads", and tools/check runs those that have it under ThreadSanitizer too. The others would only be slow there.
#pragma once

#include <gtest/gtest.h>

#define TEST_WITH_THREADS(suite, name) TEST(suite, name##WithThreads)
#define TEST_F_WITH_THREADS(fixture, name) TEST_F(fixture, name##WithThreads)
