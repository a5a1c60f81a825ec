/* Reads two parts of a gzip file's content without restoring all of it: an index is made once, then every part begins at the nearest point of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hemstitch/hemstitch.h"

static int fail(const char* what) {
  fprintf(stderr, "ranges: %s: %s\n", what, hemstitch_last_error_message());
  return 1;
}

int main(void) {
  const size_t content_bytes = 9000000;
  unsigned char* const content = malloc(content_bytes);
  if (content == NULL) return 1;
  for (size_t i = 0; i < content_bytes; ++i) content[i] = (unsigned char)((i * i) >> 16);

  hemstitch_compress_options gzip = {0};
  gzip.size = sizeof gzip;
  gzip.format = HEMSTITCH_FORMAT_GZIP;
  const size_t capacity = (size_t)hemstitch_compress_bound_of(gzip.format, content_bytes);
  unsigned char* const file = malloc(capacity);
  size_t file_bytes = 0;
  if (file == NULL) return 1;
  if (hemstitch_compress_with(&gzip, content, content_bytes, file, capacity, &file_bytes) != HEMSTITCH_OK)
    return fail("compress");

  const size_t index_capacity = (size_t)hemstitch_index_bound(file_bytes);
  unsigned char* const index = malloc(index_capacity);
  if (index == NULL) return 1;
  hemstitch_restore_options options = {0};
  options.size = sizeof options;
  if (hemstitch_make_index(NULL, file, file_bytes, index, index_capacity, &options.index_bytes) !=
      HEMSTITCH_OK)
    return fail("index");
  options.index = index;

  char first[100], second[100];
  hemstitch_range ranges[2] = {{0}};
  ranges[0].begin = 8000000;
  ranges[0].end = 8000100;
  ranges[0].output = first;
  ranges[0].output_capacity = sizeof first;
  ranges[1].begin = 1234567;
  ranges[1].end = 1234667;
  ranges[1].output = second;
  ranges[1].output_capacity = sizeof second;
  if (hemstitch_restore_ranges(&options, file, file_bytes, ranges, 2) != HEMSTITCH_OK) return fail("ranges");
  for (int i = 0; i < 2; ++i) {
    if (ranges[i].status != HEMSTITCH_OK || memcmp(ranges[i].output, content + ranges[i].begin, 100) != 0)
      return 1;
    printf("bytes %llu to %llu: as they were\n", (unsigned long long)ranges[i].begin,
           (unsigned long long)ranges[i].end);
  }
  free(index);
  free(file);
  free(content);
  return 0;
}
