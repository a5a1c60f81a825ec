#include "format/deflate/frame/deflate_writers.hpp"

#include "core/status.hpp"

namespace hemstitch {

std::unique_ptr<FrameWriter> make_deflate_writer(const CompressOptions&) {
  throw Error(Status::kUnsupportedFeature, "this version restores DEFLATE, and writes none");
}

}  // namespace hemstitch
