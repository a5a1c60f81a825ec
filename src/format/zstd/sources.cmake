# The sources of Zstandard, by the part of the library that has them.
set(host
  compress/zstd_compress_cpu.cpp
  compress/zstd_join.cpp
  compress/zstd_sequence_writer.cpp
  frame/zstd_frame_header.cpp
  frame/zstd_reader.cpp
  frame/zstd_writer.cpp
  restore/zstd_dictionary.cpp
  restore/zstd_restore_reference.cpp
  restore/zstd_sections.cpp
  restore/zstd_tables.cpp
  stream/zstd_decoder_cpu.cpp
  zstd_codec.cpp
  zstd_format.cpp
)
