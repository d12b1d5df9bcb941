/* LAMMPS as packaged by Debian, and the lines (marked S) that give its atoms to Sidestream.
 *
 * Usage: mpirun -n RANKS lammps_melt SCRIPT CONFIGURATION STEPS EVERY
 *
 * Runs the script, then STEPS steps, and publishes the atoms before the first of them and after each EVERY. Atoms
 * migrate between ranks as they move, so that each rank's number of atoms changes each time. */
#define LAMMPS_LIB_MPI 1
#include <lammps/library.h>
#include <sidestream/sidestream.h> /* S */
#include <stdio.h>
#include <stdlib.h>

/* LAMMPS itself reports errors, on standard output and in log.lammps; on all ranks, or it ends them. */
static int broken(void* lammps) { return lammps_config_has_exceptions() && lammps_has_error(lammps); }

/* S: true if a call failed; a refused iteration is not a failure. */
static int failed(sidestream_session* session, int code) {
  if (SIDESTREAM_FAILED(code)) fprintf(stderr, "lammps_melt: %s\n", sidestream_message(session));
  return SIDESTREAM_FAILED(code);
}

/* S: publishes this rank's current atoms. Coordinates and velocities in LAMMPS have the layout that Sidestream
 * takes. Its arrays are lists of rows, the first of which points to all values; without atoms there are none. */
static int publish(void* lammps, sidestream_session* session, int rank) {
  const int atoms = lammps_extract_setting(lammps, "nlocal");
  double **x = lammps_extract_atom(lammps, "x"), **v = lammps_extract_atom(lammps, "v");
  const int64_t step = (int64_t)lammps_get_thermo(lammps, "step");
  int code = sidestream_set_block_list(session, "atoms", rank, atoms, atoms, 0, 0, NULL);
  if (atoms > 0) {
    if (!code) code = sidestream_publish_values(session, "position", rank, SIDESTREAM_FLOAT64, x[0], 3 * atoms);
    if (!code) code = sidestream_publish_values(session, "velocity", rank, SIDESTREAM_FLOAT64, v[0], 3 * atoms);
    const int *type = lammps_extract_atom(lammps, "type"), *id = lammps_extract_atom(lammps, "id");
    if (!code) code = sidestream_publish_values(session, "type", rank, SIDESTREAM_INT32, type, atoms);
    if (!code) code = sidestream_publish_values(session, "id", rank, SIDESTREAM_INT32, id, atoms);
  }
  if (SIDESTREAM_FAILED(code)) return code;
  return sidestream_end_iteration(session, step, (double)step * *(double*)lammps_extract_global(lammps, "dt"));
}

/* Runs on the ranks that simulate. Returns nonzero if something failed. */
static int simulate(sidestream_session* session, const char* script, int steps, int every) {
  char run[64];
  int rank;
  MPI_Comm comm = sidestream_comm(session); /* S: instead of MPI_COMM_WORLD */
  MPI_Comm_rank(comm, &rank);
  char *arguments[] = {"lammps", "-screen", "none"}, *box[] = {"xlo", "ylo", "zlo", "xhi", "yhi", "zhi"};
  void* lammps = lammps_open(3, arguments, comm, NULL);
  lammps_file(lammps, script);
  lammps_command(lammps, "run 0 post no");
  int code = broken(lammps) ? SIDESTREAM_ERROR_USAGE : SIDESTREAM_OK;
  for (int n = 0; n < 6 && !code; ++n) { /* S: $xlo and so on in the configuration */
    const char* const edges[] = {"boxxlo", "boxylo", "boxzlo", "boxxhi", "boxyhi", "boxzhi"};
    code = sidestream_set_real(session, box[n], *(double*)lammps_extract_global(lammps, edges[n]));
  }
  if (!code) code = sidestream_start(session); /* S: all checks happen here; fails on all ranks or none */
  int wrong = !broken(lammps) && failed(session, code);
  for (int step = 0; !code && !broken(lammps); step += every) {
    if (failed(session, publish(lammps, session, rank))) wrong = 1; /* S: the simulation goes on, as the others do */
    if (step + every > steps) break;
    snprintf(run, sizeof run, "run %d pre no post no", every);
    lammps_command(lammps, run);
  }
  wrong = wrong || broken(lammps);
  lammps_close(lammps);
  return wrong;
}

int main(int argc, char** argv) {
  if (argc != 5 || atoi(argv[4]) < 1) {
    fprintf(stderr, "usage: lammps_melt SCRIPT CONFIGURATION STEPS EVERY\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  sidestream_session* session; /* S */
  int rank, wrong = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (sidestream_open(MPI_COMM_WORLD, argv[2], &session)) { /* S */
    if (rank == 0) fprintf(stderr, "lammps_melt: %s\n", sidestream_message(NULL));
  } else if (sidestream_is_server(session)) {           /* S */
    wrong = failed(session, sidestream_serve(session)); /* S */
  } else {
    wrong = simulate(session, argv[1], atoi(argv[3]), atoi(argv[4]));
  }
  if (session) sidestream_close(&session); /* S */
  MPI_Finalize();
  return wrong;
}
