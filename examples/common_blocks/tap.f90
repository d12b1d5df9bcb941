! Gives the common blocks of heat.f to Sidestream. FORTRAN 77 can call these routines.
module tap
  use sidestream
  implicit none
  type(sidestream_session) :: session
  integer :: code
end module tap

! Opens the session. Servers work here until all others have closed; then and on an error `simulates` is 0.
subroutine tapopn(simulates)
  use tap
  implicit none
  integer, intent(out) :: simulates
  include 'fields.inc'
  call sidestream_open(mycomm, 'run.yaml', session, code)
  simulates = 0
  if (code /= SIDESTREAM_OK) return
  if (sidestream_is_server(session)) then
    call sidestream_serve(session)
  else
    simulates = 1
    call sidestream_get_comm(session, mycomm)
  end if
end subroutine tapopn

! Declares my rows, once they are known.
subroutine tapdec()
  use tap
  implicit none
  include 'fields.inc'
  call sidestream_set_block(session, 'plate', myrank, [0, j0 - 1], [nx, j1])
  call sidestream_start(session)
end subroutine tapdec

! Publishes the used sections of the arrays. The only copy is into the buffer.
subroutine tapout(istep)
  use tap
  implicit none
  integer, intent(in) :: istep
  include 'fields.inc'
  call sidestream_publish(session, 'temperature', myrank, t(1:nx, 1:j1 - j0 + 1))
  call sidestream_end_iteration(session, istep, 0.1d0 * istep)
end subroutine tapout

! Closes the session. `failed` is the code of the first error of all calls on this rank, or 0.
subroutine tapend(failed)
  use tap
  use mpi
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer, intent(out) :: failed
  integer :: world_rank, ignored
  if (code == SIDESTREAM_OK) call sidestream_close(session, ierr=code)
  failed = merge(code, 0, sidestream_failed(code))
  ! Failures of opening, starting and serving are the same on every rank.
  call MPI_Comm_rank(MPI_COMM_WORLD, world_rank, ignored)
  if (failed /= 0 .and. world_rank == 0) write (error_unit, '(2a)') 'heat77: ', sidestream_message(session)
end subroutine tapend
