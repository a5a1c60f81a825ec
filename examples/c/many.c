/* Compresses a thousand small inputs in one call and restores them in another: a status for each, and damage of one is its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hemstitch/memory.h"

enum { kCount = 1000, kBytes = 4096 };

int main(void) {
  const size_t room = (size_t)hemstitch_compress_bound(kBytes);
  char* const inputs = malloc((size_t)kCount * kBytes);
  char* const frames = malloc(kCount * room);
  char* const restored = malloc((size_t)kCount * kBytes);
  hemstitch_item* const items = calloc(kCount, sizeof *items);
  if (inputs == NULL || frames == NULL || restored == NULL || items == NULL) return 1;
  for (size_t i = 0; i < (size_t)kCount * kBytes; ++i) inputs[i] = "page after page, "[(i + i / kBytes) % 17];

  for (size_t i = 0; i < kCount; ++i) {
    items[i].input = inputs + i * kBytes;
    items[i].input_bytes = kBytes;
    items[i].output = frames + i * room;
    items[i].output_capacity = room;
  }
  hemstitch_status status = hemstitch_compress_many(NULL, items, kCount);
  for (size_t i = 0; i < kCount && status == HEMSTITCH_OK; ++i) {
    status = items[i].status;
    items[i].input = items[i].output;
    items[i].input_bytes = items[i].output_bytes;
    items[i].output = restored + i * kBytes;
    items[i].output_capacity = kBytes;
  }
  if (status == HEMSTITCH_OK) {
    frames[7 * room + items[7].input_bytes / 2] ^= 1;
    status = hemstitch_restore_many(NULL, items, kCount);
  }
  if (status != HEMSTITCH_OK) {
    fprintf(stderr, "many: %s\n", hemstitch_last_error_message());
    return 1;
  }
  for (size_t i = 0; i < kCount; ++i) {
    if (items[i].status != HEMSTITCH_OK)
      printf("item %zu: %s\n", i, hemstitch_status_text(items[i].status));
    else if (memcmp(items[i].output, inputs + i * kBytes, kBytes) != 0)
      return 1;
  }
  const int one_is_damaged = items[7].status != HEMSTITCH_OK;
  free(items);
  free(restored);
  free(frames);
  free(inputs);
  return one_is_damaged ? 0 : 1;
}
