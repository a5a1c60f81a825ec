// The program's malloc with a fault that a test injects: the n-th allocation fails, whoever asks for it.
#pragma once

namespace hemstitch::testing {

enum class Failing {
  kOne,   // the n-th allocation alone: what follows has memory again
  kRest,  // the n-th and all after it
};

// Counts from now on, in all threads together.
void fail_allocation(long n, Failing failing);
void fail_no_allocation();
// How many were asked for since fail_allocation().
long allocation_count();

}  // namespace hemstitch::testing
