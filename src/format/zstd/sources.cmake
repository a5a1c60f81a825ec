# The sources of Zstandard, by the part of the library that has them.
set(host
  compress/zstd_join.cpp
  compress/zstd_sequence_writer.cpp
  frame/zstd_frame_header.cpp
  restore/zstd_dictionary.cpp
  restore/zstd_restore_reference.cpp
  restore/zstd_sections.cpp
  restore/zstd_tables.cpp
)
