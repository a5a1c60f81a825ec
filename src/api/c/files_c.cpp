// Implements files.h with files.hpp.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/c/c_options.hpp"
#include "api/c/webgpu_c.hpp"
#include "hemstitch/files.h"
#include "hemstitch/files.hpp"

struct hemstitch_file_loader {
  hemstitch::FileLoader loader;
};

namespace hemstitch {
namespace {

static_assert(HEMSTITCH_SKIPPED_UNREADABLE == static_cast<int>(SkippedFile::Why::kUnreadable) &&
              HEMSTITCH_SKIPPED_FOLDER == static_cast<int>(SkippedFile::Why::kFolder) &&
              HEMSTITCH_SKIPPED_NOT_REGULAR == static_cast<int>(SkippedFile::Why::kNotRegular) &&
              HEMSTITCH_SKIPPED_EMPTY == static_cast<int>(SkippedFile::Why::kEmpty) &&
              HEMSTITCH_SKIPPED_CHANGED == static_cast<int>(SkippedFile::Why::kChanged) &&
              HEMSTITCH_SKIPPED_TOO_LARGE == static_cast<int>(SkippedFile::Why::kTooLarge));

std::vector<std::string> names_of(const char* const* paths, std::size_t count) {
  need_for(count, paths, "paths");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.emplace_back(needed(paths[i], "a path"));
  return names;
}

LoadOptions options_of(const hemstitch_load_options* given) {
  const auto all = sized(given, "options");
  LoadOptions options;
  options.threads = all.threads;
  options.memory_limit_bytes = all.memory_limit_bytes;
  options.oversize_alone = all.oversize_alone != 0;
  options.to_device = all.to_device != 0;
  if (all.device != nullptr) options.device = all.device;
  if (all.webgpu != nullptr) options.webgpu = all.webgpu->device;
  if (all.open_file != nullptr)
    options.open_file = [open = all.open_file, context = all.open_context](std::size_t index) {
      return open(context, index);
    };
  return options;
}

FrameLoadOptions options_of(const hemstitch_frame_load_options* given) {
  const auto all = sized(given, "options");
  FrameLoadOptions options;
  if (all.device != nullptr) options.device = all.device;
  options.threads = all.threads;
  options.verify_checksums = all.skip_checksums == 0;
  options.verify_content_checksum = all.skip_content_checksum == 0;
  options.stream = all.stream;
  return options;
}

// The loaded files, and the parts of them that C reads in a form that C++ does not keep.
struct LoadedFiles {
  CompactedBuffer buffer;
  std::vector<std::size_t> indices;
  std::vector<hemstitch_skipped_file> skipped;
};

void give(CompactedBuffer buffer, hemstitch_files* files) {
  auto loaded = std::make_unique<LoadedFiles>();
  loaded->buffer = std::move(buffer);
  const CompactedBuffer& from = loaded->buffer;
  for (std::size_t i = 0; i < from.count(); ++i) loaded->indices.push_back(from.index(i));
  for (const SkippedFile& file : from.skipped())
    loaded->skipped.push_back({file.index, static_cast<std::int32_t>(file.why), file.reason.c_str()});
  *files = {.count = from.count(),
            .bytes = from.bytes().data(),
            .offsets = from.offsets().data(),
            .indices = loaded->indices.data(),
            .skipped = loaded->skipped.data(),
            .skipped_count = loaded->skipped.size(),
            .d_bytes = from.d_bytes(),
            .d_offsets = from.d_offsets(),
            .webgpu_bytes = from.webgpu_bytes(),
            .webgpu_offsets = from.webgpu_offsets(),
            .owner = nullptr};
  files->owner = loaded.release();
}

}  // namespace
}  // namespace hemstitch

using namespace hemstitch;

extern "C" {

hemstitch_status hemstitch_load_files(const char* const* paths, size_t count,
                                      const hemstitch_load_options* options, hemstitch_files* files) {
  return guarded([&] {
    needed(files, "files");
    give(load_files(names_of(paths, count), options_of(options)), files);
  });
}

void hemstitch_files_free(hemstitch_files* files) {
  if (files == nullptr) return;
  delete static_cast<LoadedFiles*>(files->owner);
  *files = {};
}

hemstitch_status hemstitch_file_loader_new(const char* const* paths, size_t count,
                                           const hemstitch_load_options* options,
                                           hemstitch_file_loader** loader) {
  return guarded([&] {
    needed(loader, "loader");
    auto names = names_of(paths, count);
    *loader = new hemstitch_file_loader{FileLoader(std::move(names), options_of(options))};
  });
}

hemstitch_status hemstitch_file_loader_next(hemstitch_file_loader* loader, hemstitch_files* files,
                                            int* found) {
  return guarded([&] {
    needed(loader, "loader");
    needed(files, "files");
    needed(found, "found");
    if (loader->loader.done()) {
      *files = {};
      *found = 0;
      return;
    }
    give(loader->loader.next(), files);
    *found = 1;
  });
}

void hemstitch_file_loader_free(hemstitch_file_loader* loader) { delete loader; }

hemstitch_status hemstitch_load_frame(const char* path, const hemstitch_frame_load_options* options,
                                      hemstitch_device_content* content) {
  return hemstitch_load_frames(&path, 1, options, content);
}

hemstitch_status hemstitch_load_frames(const char* const* paths, size_t count,
                                       const hemstitch_frame_load_options* options,
                                       hemstitch_device_content* contents) {
  return guarded([&] {
    need_for(count, contents, "contents");
    const std::vector<DeviceContent> loaded = load_frames(names_of(paths, count), options_of(options));
    std::vector<std::unique_ptr<DeviceContent>> owners;
    owners.reserve(loaded.size());
    for (const DeviceContent& content : loaded) owners.push_back(std::make_unique<DeviceContent>(content));
    for (size_t i = 0; i < count; ++i)
      contents[i] = {loaded[i].data(), loaded[i].bytes(), loaded[i].restored_on_device(),
                     owners[i].release()};
  });
}

void hemstitch_release_content(hemstitch_device_content* content) {
  if (content == nullptr) return;
  delete static_cast<DeviceContent*>(content->owner);
  *content = {};
}

hemstitch_status hemstitch_save_frame(const void* content, uint64_t content_bytes, const char* path,
                                      const hemstitch_frame_save_options* given, uint64_t* frame_bytes) {
  return guarded([&] {
    need_for(content_bytes, content, "content");
    needed(path, "path");
    const auto all = sized(given, "options");
    FrameSaveOptions options{.level = all.level,
                             .block_bytes = all.block_bytes,
                             .block_checksums = all.no_block_checksums == 0,
                             .threads = all.threads,
                             .stream = all.stream};
    if (const int format = number_of(all.format); format != HEMSTITCH_FORMAT_DEFAULT)
      options.format = static_cast<Format>(format);
    const std::uint64_t bytes =
        save_frame({static_cast<const std::byte*>(content), content_bytes}, path, options);
    if (frame_bytes != nullptr) *frame_bytes = bytes;
  });
}

}  // extern "C"
