!> Opens with a communicator of mpi_f08, and once more with one of mpi.
program communicators
  use mpi_f08
  use checks
  use sidestream
  implicit none
  character(len=*), parameter :: text = 'placement: {mode: cores, buffer: 32 MiB}' // new_line('a') // &
    'output: {directory: communicators-results, existing: replace, timings: false}'
  type(sidestream_session) :: session
  type(MPI_Comm) :: comm
  integer :: old, ranks, code
  call MPI_Init()
  call sidestream_open_text(MPI_COMM_WORLD, text, session, code)
  call check_error(session, code, SIDESTREAM_OK, '')
  call sidestream_get_comm(session, comm)
  if (sidestream_is_server(session)) then
    call check(comm == MPI_COMM_NULL, 'a server has no ranks that simulate')
    call sidestream_serve(session)
  else
    call MPI_Comm_size(comm, ranks)
    call check(ranks == 2, 'two of three ranks simulate')
    call sidestream_get_comm(session, old)
    call check(old == comm%MPI_VAL, 'the same as an integer')
    call sidestream_end_iteration(session, 0, 0.0)
  end if
  call sidestream_close(session, ierr=code)
  call check_error(session, code, SIDESTREAM_OK, '')
  call sidestream_open_text(MPI_COMM_WORLD%MPI_VAL, 'placement: off', session, code)
  call check_error(session, code, SIDESTREAM_OK, '')
  call sidestream_close(session)
  call sidestream_open(MPI_COMM_WORLD, 'no-such-file.yaml', session, code)
  call check_error(session, code, SIDESTREAM_ERROR_CONFIGURATION, 'no-such-file.yaml')
  call end_checks()
  call MPI_Finalize()
end program communicators
