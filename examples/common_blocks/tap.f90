! What gives the common blocks of heat.f to Sidestream: one file of Fortran 2008, whose routines FORTRAN 77 can call.
module tap
  use sidestream
  implicit none
  type(sidestream_session) :: session
  logical :: opened = .false.
end module tap

! Opens the session. Servers work here until all others have closed; then and on an error `simulates` is 0.
subroutine tapopn(simulates)
  use tap
  implicit none
  integer, intent(out) :: simulates
  include 'fields.inc'
  integer :: code
  call sidestream_open(mycomm, 'run.yaml', session, code)
  opened = code == SIDESTREAM_OK
  simulates = 0
  if (.not. opened) then
    print '(2a)', 'heat: ', sidestream_message(session)
  else if (sidestream_is_server(session)) then
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

! Publishes what is used of the arrays: sections of them, without a copy but that into the buffer.
subroutine tapout(istep)
  use tap
  implicit none
  integer, intent(in) :: istep
  include 'fields.inc'
  call sidestream_publish(session, 'temperature', myrank, t(1:nx, 1:j1 - j0 + 1))
  call sidestream_end_iteration(session, istep, 0.1d0 * istep)
end subroutine tapout

subroutine tapend()
  use tap
  implicit none
  if (opened) call sidestream_close(session)
end subroutine tapend
