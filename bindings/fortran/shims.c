#include "shims.h"

#include <mpi.h>

/* Procedures in sidestream_functions.f90 that call the procedures of `user`. */
int sidestream_fortran_local(const sidestream_input* input, void* partial, char* message, void* user);
int sidestream_fortran_combine(const sidestream_input* input, void* partial, int servers, char* message, void* user);
int sidestream_fortran_merge(void* partial, const void* other, char* message, void* user);

static void set_rank(MPI_Comm comm, int* rank) {
  int initialised = 0;
  *rank = 0;
  MPI_Initialized(&initialised);
  if (initialised && comm != MPI_COMM_NULL) MPI_Comm_rank(comm, rank);
}

/* Opens a session. An empty file name means none. `rank` is the rank in comm, for the member that speaks for all. */
int sidestream_fortran_open(int comm, const char* given, int is_text, sidestream_session** session, int* rank) {
  const MPI_Comm all = MPI_Comm_f2c((MPI_Fint)comm);
  set_rank(all, rank);
  if (is_text) return sidestream_open_text(all, given, session);
  return sidestream_open(all, given[0] ? given : NULL, session);
}

int sidestream_fortran_comm(const sidestream_session* session) { return (int)MPI_Comm_c2f(sidestream_comm(session)); }

static int combine(const sidestream_input* input, void* partial, MPI_Comm servers, char* message, void* user) {
  return sidestream_fortran_combine(input, partial, (int)MPI_Comm_c2f(servers), message, user);
}

int sidestream_fortran_register(sidestream_session* session, const char* name, size_t partial_bytes, int has_combine,
                                int has_merge, void* user) {
  const sidestream_function function = {.struct_size = sizeof function,
                                        .name = name,
                                        .partial_bytes = partial_bytes,
                                        .local = sidestream_fortran_local,
                                        .combine = has_combine ? combine : NULL,
                                        .user = user,
                                        .merge = has_merge ? sidestream_fortran_merge : NULL};
  return sidestream_register_function(session, &function);
}

int sidestream_fortran_restart_open(int comm, const char* directory, int has_cycle, int64_t cycle,
                                    sidestream_restart** restart, int* rank) {
  const MPI_Comm all = MPI_Comm_f2c((MPI_Fint)comm);
  set_rank(all, rank);
  return sidestream_restart_open(all, directory, has_cycle ? &cycle : NULL, restart);
}

/* Opens a database. Without a communicator no function of MPI is called. */
int sidestream_fortran_reader_open(int has_comm, int comm, const char* directory, sidestream_reader** reader,
                                   int* rank) {
  *rank = 0;
  if (!has_comm) return sidestream_reader_open(MPI_COMM_NULL, directory, reader);
  const MPI_Comm all = MPI_Comm_f2c((MPI_Fint)comm);
  set_rank(all, rank);
  return sidestream_reader_open(all, directory, reader);
}
