/* Ranks of MPI compress one file into one file: each takes a part of the input, makes whole frames of it, and writes them where the
 * frames of the ranks before it end. `lz4 -d`, or any reader of LZ4 frames, gives the content back.
 *
 *   mpirun -n 4 compress_file INPUT OUTPUT
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "hemstitch/hemstitch.h"

/* MPI counts in int: what is longer travels in pieces. The smaller one is for tests. */
#ifndef PIECE_BYTES
#define PIECE_BYTES ((MPI_Offset)1 << 30)
#endif

static void fail(const char* what, const char* why) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int result, const char* what) {
  char why[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (result == MPI_SUCCESS) return;
  MPI_Error_string(result, why, &length);
  fail(what, why);
}

typedef int (*file_call)(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*);

static int write_at_all(MPI_File file, MPI_Offset at, void* bytes, int count, MPI_Datatype type,
                        MPI_Status* status) {
  return MPI_File_write_at_all(file, at, bytes, count, type, status);
}

/* A collective call, piece by piece: all ranks call as often as the one with the most bytes, at the end with none. */
static void carry(file_call call, MPI_File file, MPI_Offset at, char* bytes, MPI_Offset count,
                  const char* what) {
  MPI_Offset most = 0;
  check(MPI_Allreduce(&count, &most, 1, MPI_OFFSET, MPI_MAX, MPI_COMM_WORLD), what);
  for (MPI_Offset done = 0; done < most; done += PIECE_BYTES) {
    MPI_Offset begin = done < count ? done : count;
    MPI_Offset piece = count - begin < PIECE_BYTES ? count - begin : PIECE_BYTES;
    MPI_Status status;
    int carried = 0;
    check(call(file, at + begin, bytes + begin, (int)piece, MPI_BYTE, &status), what);
    check(MPI_Get_count(&status, MPI_BYTE, &carried), what);
    if (carried != piece) fail(what, "fewer bytes than there should be");
  }
}

int main(int argument_count, char** arguments) {
  check(MPI_Init(&argument_count, &arguments), "MPI_Init");
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argument_count != 3) fail("usage", "compress_file INPUT OUTPUT");
  const char* const input_name = arguments[1];
  const char* const output_name = arguments[2];

  MPI_File input, output;
  MPI_Offset input_bytes = 0;
  check(MPI_File_open(MPI_COMM_WORLD, input_name, MPI_MODE_RDONLY, MPI_INFO_NULL, &input), input_name);
  check(MPI_File_get_size(input, &input_bytes), input_name);
  const MPI_Offset share = input_bytes / ranks, more = input_bytes % ranks;
  const MPI_Offset begin = share * rank + (rank < more ? rank : more);
  const MPI_Offset part_bytes = share + (rank < more);
  char* const part = malloc((size_t)part_bytes + 1);
  if (part == NULL) fail(input_name, "no memory for the part");
  carry(MPI_File_read_at_all, input, begin, part, part_bytes, input_name);
  check(MPI_File_close(&input), input_name);

  /* A thread a rank: mpirun gives each a core. */
  hemstitch_compress_options options = {0};
  options.size = sizeof options;
  options.threads = 1;
  const uint64_t capacity = hemstitch_compress_bound((uint64_t)part_bytes);
  char* const frame = malloc((size_t)capacity);
  if (frame == NULL) fail(output_name, "no memory for the frame");
  size_t frame_bytes = 0;
  if (hemstitch_compress_with(&options, part, (size_t)part_bytes, frame, (size_t)capacity, &frame_bytes) !=
      HEMSTITCH_OK)
    fail("compress", hemstitch_last_error_message());

  /* Where the frames of lower ranks end; rank 0 is given nothing. */
  MPI_Offset mine = (MPI_Offset)frame_bytes, at = 0, all = 0;
  check(MPI_Exscan(&mine, &at, 1, MPI_OFFSET, MPI_SUM, MPI_COMM_WORLD), "sizes");
  if (rank == 0) at = 0;
  check(MPI_Allreduce(&mine, &all, 1, MPI_OFFSET, MPI_SUM, MPI_COMM_WORLD), "sizes");
  check(MPI_File_open(MPI_COMM_WORLD, output_name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &output),
        output_name);
  check(MPI_File_set_size(output, all), output_name);
  carry(write_at_all, output, at, frame, mine, output_name);
  check(MPI_File_close(&output), output_name);

  if (rank == 0) printf("%lld -> %lld bytes by %d ranks\n", (long long)input_bytes, (long long)all, ranks);
  free(part);
  free(frame);
  return MPI_Finalize();
}
