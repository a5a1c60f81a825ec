// The twins as a backend: every finder, parse, encoder and decoder in its simplest form, one block after the
// other on the calling thread. It defines the bytes that the GPU backends write, redoes the blocks that fail
// on them, and is what `--reproducible` uses. `acceleration` is without effect here: level 1 is the fastest.
#pragma once

#include <memory>

#include "engine/backend.hpp"

namespace hemstitch {

std::unique_ptr<Backend> make_reference_backend();

}  // namespace hemstitch
