!> The program without Sidestream: nothing is published.
module bec_coupling
  use bec_blocks, only: blocks
  use mpi
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: coupling, open_coupling, serves, communicator, declare, publish, close_coupling

  type :: coupling
    logical :: used = .false. ! never true
  end type coupling

contains

  !> `message` is a sentence if a configuration was named.
  subroutine open_coupling(file, c, message)
    character(len=*), intent(in) :: file
    type(coupling), intent(inout) :: c
    character(len=:), allocatable, intent(out) :: message
    c%used = .false.
    message = ''
    if (file /= '') message = '--sidestream: this program was built without Sidestream'
  end subroutine open_coupling

  logical function serves(c)
    type(coupling), intent(inout) :: c
    serves = c%used
  end function serves

  integer function communicator(c)
    type(coupling), intent(in) :: c
    communicator = merge(MPI_COMM_NULL, MPI_COMM_WORLD, c%used)
  end function communicator

  subroutine declare(c, b, a, g, ok)
    type(coupling), intent(inout) :: c
    type(blocks), intent(in) :: b
    real(real64), intent(in) :: a, g
    logical, intent(out) :: ok
    ok = .true.
    c%used = c%used .and. b%ranks > 0 .and. a * g > 0
  end subroutine declare

  subroutine publish(c, b, fields, step, ok)
    type(coupling), intent(inout) :: c
    type(blocks), intent(in) :: b
    real(real64), intent(in) :: fields(:, :, :, :)
    integer, intent(in) :: step
    logical, intent(out) :: ok
    ok = .true.
    c%used = c%used .and. b%ranks > 0 .and. size(fields) > 0 .and. step >= 0
  end subroutine publish

  subroutine close_coupling(c, outcome, message)
    type(coupling), intent(inout) :: c
    character(len=:), allocatable, intent(out) :: outcome, message
    c%used = .false.
    outcome = ''
    message = ''
  end subroutine close_coupling
end module bec_coupling
