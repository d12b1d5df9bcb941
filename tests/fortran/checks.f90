!> Procedures that the test programs share.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit
  use sidestream
  implicit none
  integer :: failures = 0

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    failures = failures + 1
    write (error_unit, '(2a)') 'not so: ', what
  end subroutine check

  !> Checks the code and a part of the message.
  subroutine check_error(session, code, expected, part)
    type(sidestream_session), intent(in) :: session
    integer, intent(in) :: code, expected
    character(len=*), intent(in) :: part
    if (code == expected .and. index(sidestream_message(session), part) > 0) return
    failures = failures + 1
    write (error_unit, '(a,i0,a,i0,4a)') 'expected ', expected, ', got ', code, ': "', part, '" in ', &
      sidestream_message(session)
  end subroutine check_error

  subroutine end_checks()
    if (failures > 0) error stop 1
  end subroutine end_checks

  function argument(n) result(text)
    integer, intent(in) :: n
    character(len=:), allocatable :: text
    integer :: length
    call get_command_argument(n, length=length)
    allocate (character(len=length) :: text)
    call get_command_argument(n, text)
  end function argument
end module checks
