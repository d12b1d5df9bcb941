/* Shims for what Fortran cannot pass to C: communicators, and the table of functions. Names without
 * `sidestream_fortran_` belong to sidestream.h. Fortran's interfaces are made from these prototypes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sidestream/reader.h"
#include "sidestream/restart.h"
#include "sidestream/sidestream.h"

int sidestream_fortran_open(int comm, const char* given, int is_text, sidestream_session** session, int* rank);
int sidestream_fortran_comm(const sidestream_session* session);
int sidestream_fortran_register(sidestream_session* session, const char* name, size_t partial_bytes, int has_combine,
                                int has_merge, void* user);
int sidestream_fortran_restart_open(int comm, const char* directory, int has_cycle, int64_t cycle,
                                    sidestream_restart** restart, int* rank);
int sidestream_fortran_reader_open(int has_comm, int comm, const char* directory, sidestream_reader** reader,
                                   int* rank);
