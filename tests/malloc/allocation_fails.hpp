#pragma once

namespace hemstitch::testing {

// Whether the allocation that is asked for now fails. Called for each of them, by any thread, also before main().
bool allocation_fails();

}  // namespace hemstitch::testing
