// A sink that keeps what it is given.
#pragma once

#include "pipeline/stream.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

class CollectSink : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override {
    content.insert(content.end(), bytes.begin(), bytes.end());
  }
  Bytes content;
};

}  // namespace hemstitch::testing
