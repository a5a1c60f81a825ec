// The twins as a backend: each format's codec of twins (FormatRow::reference), every finder, parse, encoder
// and decoder in its simplest form. It defines the bytes that the GPU backends write, redoes the blocks that
// fail on them, and is what `--reproducible` uses.
#pragma once

#include <memory>

#include "engine/backend.hpp"

namespace hemstitch {

std::unique_ptr<Backend> make_reference_backend();

}  // namespace hemstitch
