/* Keeps pages of 4 KB compressed in memory, by number, and shows what that saves. */
#include <stdio.h>
#include <string.h>

#include "hemstitch/pages.h"

int main(void) {
  hemstitch_page_store_options options = {0};
  options.size = sizeof options;
  options.page_count = 10000;
  options.budget_bytes = 16 << 20;
  hemstitch_page_store* store = NULL;
  hemstitch_status status = hemstitch_page_store_new(&options, &store);

  char page[4096];
  for (uint64_t number = 0; number < options.page_count && status == HEMSTITCH_OK; ++number) {
    memset(page, (int)(number % 3), sizeof page);
    for (size_t i = 0; number % 2 == 1 && i < sizeof page; i += 16) page[i] = (char)(number + i / 64);
    status = hemstitch_page_store_put(store, number, page, sizeof page);
  }
  int32_t found = 0;
  if (status == HEMSTITCH_OK) status = hemstitch_page_store_get(store, 4711, page, sizeof page, &found);
  hemstitch_page_store_statistics statistics = {0};
  statistics.size = sizeof statistics;
  if (status == HEMSTITCH_OK) status = hemstitch_page_store_statistics_of(store, &statistics);
  if (status != HEMSTITCH_OK) {
    fprintf(stderr, "page_store: %s\n", hemstitch_last_error_message());
    return 1;
  }
  printf("%llu pages, %llu of them of one word, in %llu bytes with all bookkeeping\n",
         (unsigned long long)statistics.pages, (unsigned long long)statistics.same_filled,
         (unsigned long long)statistics.memory_bytes);
  hemstitch_page_store_free(store);
  return found == 1 && page[16] == (char)(4711 + 16 / 64) && statistics.pages == options.page_count ? 0 : 1;
}
