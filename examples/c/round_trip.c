/* Compresses a text in memory, restores it, and shows what damaged data gets: a status and a message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hemstitch/hemstitch.h"

static int fail(const char* what, hemstitch_status status) {
  fprintf(stderr, "%s: status %d: %s\n", what, (int)status, hemstitch_last_error_message());
  return 1;
}

int main(void) {
  char text[4000];
  for (size_t i = 0; i < sizeof text; ++i) text[i] = "a stitch in time saves nine, "[i % 29];

  /* The bound is room enough at any level. */
  const size_t capacity = (size_t)hemstitch_compress_bound(sizeof text);
  unsigned char* frame = malloc(capacity);
  char* restored = malloc(sizeof text);
  if (frame == NULL || restored == NULL) return 1;

  size_t frame_bytes = 0;
  hemstitch_status status = hemstitch_compress(text, sizeof text, 0, frame, capacity, &frame_bytes);
  if (status != HEMSTITCH_OK) return fail("compress", status);

  /* Ask for the size before making room. */
  uint64_t content_bytes = 0;
  status = hemstitch_restored_size(frame, frame_bytes, &content_bytes);
  if (status != HEMSTITCH_OK) return fail("size", status);
  if (content_bytes != sizeof text) return 1;

  size_t restored_bytes = 0;
  status = hemstitch_restore(frame, frame_bytes, restored, sizeof text, &restored_bytes);
  if (status != HEMSTITCH_OK) return fail("restore", status);
  if (restored_bytes != sizeof text || memcmp(text, restored, sizeof text) != 0) return 1;
  printf("hemstitch %s: %zu bytes -> %zu bytes, restored exactly\n", hemstitch_version(), sizeof text,
         frame_bytes);

  /* Damage is found by the checksums, and said in words. */
  frame[frame_bytes / 2] ^= 1;
  status = hemstitch_restore(frame, frame_bytes, restored, sizeof text, &restored_bytes);
  if (status == HEMSTITCH_OK) return 1;
  printf("damaged: status %d: %s\n", (int)status, hemstitch_last_error_message());

  free(restored);
  free(frame);
  return 0;
}
