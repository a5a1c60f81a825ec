/* Finds the matches of a text, for an encoder with a format of its own: what is not in a match is a literal. */
#include <stdio.h>
#include <string.h>

#include "hemstitch/match.h"

int main(void) {
  static const char text[] = "she sells sea shells by the sea shore; the shells she sells are sea shells";
  hemstitch_match_block block = {0};
  block.data = text;
  block.bytes = strlen(text);

  hemstitch_matcher* matcher = NULL;
  hemstitch_matches found = {0};
  hemstitch_status status = hemstitch_matcher_new(NULL, &matcher);
  if (status == HEMSTITCH_OK) status = hemstitch_matcher_find(matcher, &block, 1, &found);
  if (status != HEMSTITCH_OK) {
    fprintf(stderr, "matches: %s\n", hemstitch_last_error_message());
    return 1;
  }
  const size_t count = found.first[1];
  for (size_t i = 0; i < count; ++i) {
    const hemstitch_match match = found.matches[i];
    printf("at %llu: '%.*s', also %u bytes earlier\n", (unsigned long long)match.position, (int)match.length,
           text + match.position, (unsigned)match.offset);
    if (memcmp(text + match.position, text + match.position - match.offset, match.length) != 0) return 1;
  }
  hemstitch_matches_free(&found);
  hemstitch_matcher_free(matcher);
  return count > 0 ? 0 : 1;
}
