// The formats of the library: one row for each folder. A row says which devices have a half of it.
//
// Each part of the library makes the halves that it holds, of these rows: known_formats.cpp the host's,
// formats_cuda.cpp and formats_webgpu.cpp those of devices. So a build without a device, or a part that is loaded
// at run time, needs no row of its own. For a row NAME, the folder src/format/NAME defines, where the row says YES
// (the batch formats of these are in src/batch):
//
//   host     std::vector<FormatRow> make_NAME_formats();                                    always
//   CUDA     std::vector<std::unique_ptr<DeviceFormat>> cuda::make_NAME_device_formats();
//            std::vector<std::unique_ptr<BatchFormat>> make_NAME_batch_formats();        in every build, for batch.h
//   WebGPU   std::vector<std::unique_ptr<DeviceFormat>> webgpu::make_NAME_device_formats();
//
// Data is tested for formats in the order of the rows.
#pragma once

//      folder   CUDA  WebGPU
#define HEMSTITCH_KNOWN_FORMATS(ROW) \
  ROW(lz4, YES, YES)                 \
  ROW(deflate, YES, YES)             \
  ROW(zstd, YES, YES)

#define HEMSTITCH_IF_YES(...) __VA_ARGS__
#define HEMSTITCH_IF_NO(...)
