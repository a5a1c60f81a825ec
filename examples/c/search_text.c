/* Shows the lines of a text that hold one of two words, with their numbers, as grep -n -F does. */
#include <stdio.h>
#include <string.h>

#include "hemstitch/search.h"

int main(void) {
  static const char text[] = "all is well\nthe first error\nstill well\na warning\n";
  const char* const patterns[] = {"error", "warning"};
  hemstitch_search_options options = {0};
  options.size = sizeof options;
  options.patterns = patterns;
  options.pattern_count = 2;

  hemstitch_searcher* searcher = NULL;
  hemstitch_search_results results = {0};
  hemstitch_status status = hemstitch_searcher_new(&options, &searcher);
  if (status == HEMSTITCH_OK) status = hemstitch_search_text(searcher, text, strlen(text), &results);
  if (status != HEMSTITCH_OK) {
    fprintf(stderr, "search_text: %s\n", hemstitch_last_error_message());
    return 1;
  }
  const hemstitch_searched_text* const found = &results.texts[0];
  for (size_t i = 0; i < found->line_count; ++i)
    printf("%llu:%s\n", (unsigned long long)found->lines[i].number, found->lines[i].text);
  const int is_right = found->line_count == 2 && found->lines[1].number == 4;
  hemstitch_search_results_free(&results);
  hemstitch_searcher_free(searcher);
  return is_right ? 0 : 1;
}
