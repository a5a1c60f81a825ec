// XXH32 alone (XXH_NO_LONG_LONG): no format of the browser has XXH64, which would be two kilobytes of the module.
#pragma once

#include_next <xxhash.h>

#include <cstddef>

struct XXH64_state_t;
inline XXH64_state_t* XXH64_createState() { return nullptr; }
inline XXH_errorcode XXH64_freeState(XXH64_state_t*) { return XXH_OK; }
inline XXH_errorcode XXH64_reset(XXH64_state_t*, unsigned long long) { return XXH_ERROR; }
inline XXH_errorcode XXH64_update(XXH64_state_t*, const void*, std::size_t) { return XXH_ERROR; }
inline unsigned long long XXH64_digest(const XXH64_state_t*) { return 0; }
inline unsigned long long XXH64(const void*, std::size_t, unsigned long long) { return 0; }
