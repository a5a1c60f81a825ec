/* Asks which backend the rule behind "auto" takes for a gigabyte of LZ4 at level 9, with 16 cores and an H200, before anything runs. */
#include "hemstitch/choice.h"

#include <stdio.h>

static int fail(void) {
  fprintf(stderr, "choice: %s\n", hemstitch_last_error_message());
  return 1;
}

int main(void) {
  hemstitch_backend_facts facts[2] = {{0}};
  hemstitch_backend_figures figures[2] = {{0}};
  hemstitch_backend_candidate candidates[2] = {{0}};
  facts[0].size = facts[1].size = sizeof facts[0];
  figures[0].size = figures[1].size = sizeof figures[0];
  facts[0].backend = "cpu";
  facts[0].kind = HEMSTITCH_BACKEND_PROCESSOR;
  facts[0].units = 16;
  facts[1].backend = "cuda";
  facts[1].kind = HEMSTITCH_BACKEND_DEVICE;
  facts[1].device = "NVIDIA H200";
  facts[1].units = 132;
  for (int i = 0; i < 2; ++i) {
    int known = 0;
    if (hemstitch_default_figures(&facts[i], HEMSTITCH_FORMAT_LZ4, &figures[i], &known) != HEMSTITCH_OK)
      return fail();
    candidates[i].facts = &facts[i];
    candidates[i].figures = known ? &figures[i] : NULL;
  }
  hemstitch_host_figures host = {0};
  host.size = sizeof host;
  if (hemstitch_default_host_figures(16, &host) != HEMSTITCH_OK) return fail();

  hemstitch_workload work = {0};
  work.size = sizeof work;
  work.level = 9;
  work.content_bytes = 1000000000;
  work.from = work.to = HEMSTITCH_DATA_IN_FILE;
  size_t chosen = 0;
  char reason[300];
  if (hemstitch_select_backend(candidates, 2, &host, &work, &chosen, reason, sizeof reason) != HEMSTITCH_OK)
    return fail();
  printf("%s: %s\n", facts[chosen].backend, reason);
  return 0;
}
