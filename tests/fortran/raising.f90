!> Raises events with values. Clients reach a barrier in different iterations. tests/python/test_events.py checks what
!> servers see.
!>
!> raising FILE
program raising
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use checks
  use sidestream
  implicit none
  type(sidestream_session) :: session
  integer :: code, comm, rank, step
  real(real64) :: t(1)
  call MPI_Init(code)
  call sidestream_open(MPI_COMM_WORLD, argument(1), session)
  if (sidestream_is_server(session)) then
    call sidestream_serve(session)
  else
    call sidestream_get_comm(session, comm)
    call MPI_Comm_rank(comm, rank, code)
    call sidestream_set_block(session, 'grid', rank, [rank], [rank + 1])
    call sidestream_start(session)
    t = real(rank, real64)
    do step = 0, 3
      if (step == 0) call sidestream_signal_values(session, 'lost', [rank + 0.0_real64, rank + 0.5_real64])
      if (step == 1 .and. rank == 0) then
        call sidestream_signal_values(session, 'count', [7_int64, 8_int64], scope=SIDESTREAM_SCOPE_ALL)
      end if
      if (step == 3 .and. rank == 0) call sidestream_signal_values(session, 'lost', [real(real64) ::])
      if (step == mod(rank, 3)) call sidestream_signal_barrier(session, 'phase')
      call sidestream_publish(session, 't', rank, t)
      call sidestream_end_iteration(session, int(step, int64), real(step, real64))
    end do
  end if
  call sidestream_close(session)
  call end_checks()
  call MPI_Finalize(code)
end program raising
