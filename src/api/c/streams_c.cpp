// Implements the streams of hemstitch.h with Compressor and Decompressor.
#include <algorithm>
#include <vector>

#include "api/c/c_options.hpp"
#include "hemstitch/hemstitch.h"

struct hemstitch_compressor {
  hemstitch::Compressor stream;
};

struct hemstitch_decompressor {
  hemstitch::Decompressor stream;
};

using namespace hemstitch;

extern "C" {

hemstitch_status hemstitch_compressor_new(const hemstitch_compress_options* given, hemstitch_output output,
                                          void* context, hemstitch_compressor** compressor) {
  return guarded([&] {
    needed(compressor, "compressor");
    const auto all = sized(given, "options");
    refuse_watchers(all, "call hemstitch_compressor_report() instead");
    *compressor = new hemstitch_compressor{Compressor(options_of(all), output_of(output, context))};
  });
}

hemstitch_status hemstitch_compressor_write(hemstitch_compressor* compressor, const void* piece,
                                            size_t piece_bytes) {
  return guarded([&] {
    need_for(piece_bytes, piece, "piece");
    needed(compressor, "compressor")->stream.write(bytes_of(piece, piece_bytes));
  });
}

hemstitch_status hemstitch_compressor_flush(hemstitch_compressor* compressor) {
  return guarded([&] { needed(compressor, "compressor")->stream.flush(); });
}

hemstitch_status hemstitch_compressor_finish(hemstitch_compressor* compressor) {
  return guarded([&] { needed(compressor, "compressor")->stream.finish(); });
}

hemstitch_status hemstitch_compressor_report(const hemstitch_compressor* compressor,
                                             hemstitch_report* report) {
  return guarded([&] { fill_report(report, needed(compressor, "compressor")->stream.report()); });
}

void hemstitch_compressor_free(hemstitch_compressor* compressor) { delete compressor; }

hemstitch_status hemstitch_decompressor_new(const hemstitch_restore_options* given, hemstitch_output output,
                                            void* context, hemstitch_decompressor** decompressor) {
  return guarded([&] {
    needed(decompressor, "decompressor");
    const auto all = sized(given, "options");
    refuse_watchers(all, "call hemstitch_decompressor_report() instead");
    *decompressor = new hemstitch_decompressor{Decompressor(options_of(all), output_of(output, context))};
  });
}

hemstitch_status hemstitch_decompressor_make_index(hemstitch_decompressor* decompressor) {
  return guarded([&] { needed(decompressor, "decompressor")->stream.make_index(); });
}

hemstitch_status hemstitch_decompressor_write(hemstitch_decompressor* decompressor, const void* piece,
                                              size_t piece_bytes) {
  return guarded([&] {
    need_for(piece_bytes, piece, "piece");
    needed(decompressor, "decompressor")->stream.write(bytes_of(piece, piece_bytes));
  });
}

hemstitch_status hemstitch_decompressor_finish(hemstitch_decompressor* decompressor) {
  return guarded([&] { needed(decompressor, "decompressor")->stream.finish(); });
}

hemstitch_status hemstitch_decompressor_write_some(hemstitch_decompressor* decompressor, const void* piece,
                                                   size_t piece_bytes, size_t* taken_bytes) {
  return guarded([&] {
    need_for(piece_bytes, piece, "piece");
    needed(taken_bytes, "taken_bytes");
    *taken_bytes = needed(decompressor, "decompressor")->stream.write_some(bytes_of(piece, piece_bytes));
  });
}

hemstitch_status hemstitch_decompressor_finish_some(hemstitch_decompressor* decompressor, int* finished) {
  return guarded([&] {
    needed(finished, "finished");
    *finished = needed(decompressor, "decompressor")->stream.finish_some() ? 1 : 0;
  });
}

hemstitch_status hemstitch_decompressor_index(const hemstitch_decompressor* decompressor, void* output,
                                              size_t output_capacity, size_t* output_bytes) {
  return guarded([&] {
    need_for(output_capacity, output, "output");
    needed(output_bytes, "output_bytes");
    const std::vector<std::byte> index = needed(decompressor, "decompressor")->stream.index();
    if (index.size() > output_capacity)
      throw Error(Status::kOutputTooSmall,
                  fmt::format("the index has {} bytes; there is room for {}", index.size(), output_capacity));
    std::copy(index.begin(), index.end(), static_cast<std::byte*>(output));
    *output_bytes = index.size();
  });
}

hemstitch_status hemstitch_decompressor_report(const hemstitch_decompressor* decompressor,
                                               hemstitch_report* report) {
  return guarded([&] { fill_report(report, needed(decompressor, "decompressor")->stream.report()); });
}

void hemstitch_decompressor_free(hemstitch_decompressor* decompressor) { delete decompressor; }

}  // extern "C"
