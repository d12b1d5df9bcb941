!> Publishes in each iteration what is needed. tests/python/test_needed.py checks when that is.
!>
!> needed FILE
program needed
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use checks
  use sidestream
  implicit none
  type(sidestream_session) :: session
  integer :: code, comm, rank, step
  logical :: idle, often, wide, rarely
  real(real64) :: t(1)
  call MPI_Init(code)
  call sidestream_open(MPI_COMM_WORLD, argument(1), session)
  if (sidestream_is_server(session)) then
    call sidestream_is_needed(session, 'idle', idle, code)
    call check(code /= 0 .and. idle, 'a server cannot ask')
    call sidestream_serve(session)
  else
    call sidestream_get_comm(session, comm)
    call MPI_Comm_rank(comm, rank, code)
    call sidestream_set_block(session, 'grid', rank, [rank], [rank + 1])
    call sidestream_start(session)
    t = real(rank, real64)
    do step = 0, 19
      call sidestream_is_needed(session, 'idle', idle)
      call sidestream_is_needed(session, 'often', often)
      call sidestream_is_needed(session, 'rarely', 10 * step, rarely)
      call sidestream_is_needed(session, 'rarely', 10_int64 * step, wide)
      call check(rarely .eqv. wide, 'integers of both kinds say the same')
      if (often) call sidestream_publish(session, 'often', rank, t)
      if (rarely) call sidestream_publish(session, 'rarely', rank, t)
      if (rank == 0) write (*, '(i0,3(1x,l1))') step, idle, often, rarely
      call sidestream_end_iteration(session, 10 * step, real(step, real64))
    end do
    call sidestream_is_needed(session, 'oftn', often, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, "did you mean 'often'")
    call check(often, 'after an error everything is needed')
  end if
  call sidestream_close(session)
  call end_checks()
  call MPI_Finalize(code)
end program needed
