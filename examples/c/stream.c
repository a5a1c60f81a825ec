/* Compresses a file piece by piece, with a batch of blocks in memory at most, and shows what the stream did:
 *
 *   stream INPUT OUTPUT          OUTPUT is an LZ4 frame, or with a name that ends in .gz a gzip file
 */
#include <stdio.h>
#include <string.h>

#include "hemstitch/hemstitch.h"

static int write_to_file(void* file, const void* bytes, size_t count) {
  return fwrite(bytes, 1, count, file) == count ? 0 : 1;
}

int main(int argument_count, char** arguments) {
  if (argument_count != 3) {
    fprintf(stderr, "usage: stream INPUT OUTPUT\n");
    return 1;
  }
  FILE* const input = fopen(arguments[1], "rb");
  FILE* const output = fopen(arguments[2], "wb");
  if (input == NULL || output == NULL) {
    perror(input == NULL ? arguments[1] : arguments[2]);
    return 1;
  }

  /* What is not set here is zero, and zero is the default. */
  hemstitch_compress_options options = {0};
  options.size = sizeof options;
  const size_t name_bytes = strlen(arguments[2]);
  if (name_bytes > 3 && strcmp(arguments[2] + name_bytes - 3, ".gz") == 0)
    options.format = HEMSTITCH_FORMAT_GZIP;

  hemstitch_compressor* compressor = NULL;
  hemstitch_status status = hemstitch_compressor_new(&options, write_to_file, output, &compressor);
  char piece[65536];
  size_t bytes;
  while (status == HEMSTITCH_OK && (bytes = fread(piece, 1, sizeof piece, input)) > 0)
    status = hemstitch_compressor_write(compressor, piece, bytes);
  if (status == HEMSTITCH_OK) status = hemstitch_compressor_finish(compressor);
  if (status != HEMSTITCH_OK) fprintf(stderr, "stream: %s\n", hemstitch_last_error_message());

  hemstitch_report report = {0};
  report.size = sizeof report;
  if (status == HEMSTITCH_OK && hemstitch_compressor_report(compressor, &report) == HEMSTITCH_OK)
    printf("%llu -> %llu bytes in %llu blocks by backend %s\n", (unsigned long long)report.input_bytes,
           (unsigned long long)report.output_bytes, (unsigned long long)report.block_count, report.backend);

  hemstitch_compressor_free(compressor);
  const int is_written = ferror(input) == 0 && fclose(output) == 0;
  fclose(input);
  if (!is_written) perror("stream");
  return status == HEMSTITCH_OK && is_written ? 0 : 1;
}
