// Shared by the planners, whose functions hemstitch.js calls. A planner is a WebAssembly module: planner.cpp,
// for LZ4 and matches, gzip_planner.cpp, or cpu_planner.cpp, which has no device to plan for.
//
// An instance serves one call of hemstitch.js: one frame or one list of matches. A C++ exception ends it: the
// import for throwing throws in JavaScript, and no C++ frame is unwound.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "frame_jobs.hpp"
#include "job_text.hpp"

#define EXPORT(name) extern "C" __attribute__((export_name(name)))

namespace hemstitch::web {

extern Limits limits;
extern std::string text;  // the result of a call: a job, a message
extern std::unique_ptr<FrameCompression> writer;
extern std::unique_ptr<FrameRestoring> reader;

// As calls give them: a level or a block size of 0 means the format's default; a negative content size means that it is unknown.
CompressOptions lz4_options(int level, std::uint32_t block_bytes, int block_checksums, int content_checksum,
                            double content_bytes);
CompressOptions gzip_options(int blocked, int level);

// The text at the place where the module reads names.
std::string_view name(std::uint32_t length);

}  // namespace hemstitch::web
