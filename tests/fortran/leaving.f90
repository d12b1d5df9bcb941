!> The last client leaves its loop between publish and end_iteration, and closes. The others go on.
!> tests/python/test_leaving.py reads the accounts that are printed.
!>
!> leaving FILE
program leaving
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use checks
  use sidestream
  implicit none
  type(sidestream_session) :: session
  type(sidestream_account) :: account
  integer :: code, comm, rank, clients, step
  logical :: client
  real(real64) :: t(1)
  call MPI_Init(code)
  call sidestream_open(MPI_COMM_WORLD, argument(1), session)
  client = .not. sidestream_is_server(session)
  if (client) then
    call sidestream_get_comm(session, comm)
    call MPI_Comm_rank(comm, rank, code)
    call MPI_Comm_size(comm, clients, code)
    call sidestream_set_int(session, 'n', int(clients, int64))
    call sidestream_set_block(session, 'grid', rank, [rank], [rank + 1])
    call sidestream_start(session)
    t = rank + 0.5_real64
    do step = 0, 2
      call sidestream_publish(session, 't', rank, t)
      if (step == 1 .and. rank == clients - 1) exit
      call sidestream_end_iteration(session, int(step, int64), real(step, real64))
    end do
  else
    call sidestream_serve(session)
  end if
  call sidestream_close(session, account)
  if (client) print '(a, i0, a, 3(1x, i0))', 'client ', rank, ':', account%iterations, account%delivered, account%refused
  call end_checks()
  call MPI_Finalize(code)
end program leaving
