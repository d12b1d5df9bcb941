!> The program with Sidestream. This file has all of the instrumentation.
module bec_coupling
  use bec_blocks, only: blocks
  use mpi
  use sidestream
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: coupling, open_coupling, serves, communicator, declare, publish, close_coupling

  character(len=*), parameter :: names(3) = [character(len=7) :: 're', 'im', 'density']

  type :: coupling
    logical :: used = .false.
    type(sidestream_session) :: session
    character(len=:), allocatable :: failure ! the first one on this rank, if there was one
  end type coupling

contains

  !> Collective over MPI_COMM_WORLD. `message` is empty, or a sentence if that failed; all ranks have the same.
  subroutine open_coupling(file, c, message)
    character(len=*), intent(in) :: file
    type(coupling), intent(inout) :: c
    character(len=:), allocatable, intent(out) :: message
    integer :: code, length
    message = ''
    ! The environment variable may name a configuration, too; see sidestream_open.
    call get_environment_variable('SIDESTREAM_CONFIG', length=length, status=code)
    c%used = file /= '' .or. (code == 0 .and. length > 0)
    if (.not. c%used) return
    call sidestream_open(MPI_COMM_WORLD, file, c%session, code)
    if (sidestream_failed(code)) message = sidestream_message(c%session)
  end subroutine open_coupling

  !> True if this rank does not take part in the simulation; it has then done all its work except closing.
  logical function serves(c)
    type(coupling), intent(inout) :: c
    serves = .false.
    if (.not. c%used) return
    serves = sidestream_is_server(c%session)
    if (serves) call sidestream_serve(c%session)
  end function serves

  !> The ranks that run the simulation.
  integer function communicator(c)
    type(coupling), intent(in) :: c
    communicator = MPI_COMM_WORLD
    if (c%used) call sidestream_get_comm(c%session, communicator)
  end function communicator

  !> Collective over communicator(c), before the first publication. A box of one cell along z is a mesh of two axes.
  !> `ok` is false, on all ranks alike, if there is something wrong in the configuration.
  subroutine declare(c, b, a, g, ok)
    type(coupling), intent(inout) :: c
    type(blocks), intent(in) :: b
    real(real64), intent(in) :: a, g
    logical, intent(out) :: ok
    integer :: axes, i, code
    ok = .true.
    if (.not. c%used) return
    axes = merge(2, 3, b%n(3) == 1)
    call sidestream_set_int(c%session, 'nx', b%n(1))
    call sidestream_set_int(c%session, 'ny', b%n(2))
    call sidestream_set_int(c%session, 'nz', b%n(3))
    call sidestream_set_real(c%session, 'a', a)
    call sidestream_set_real(c%session, 'g', g)
    call sidestream_set_real(c%session, 'bulk', 1 / g)
    call sidestream_add_uniform_mesh(c%session, 'box', b%n(:axes))
    call sidestream_set_periodic(c%session, 'box', [(.true., i=1, axes)])
    do i = 1, 3
      call sidestream_add_variable(c%session, trim(names(i)), 'box', SIDESTREAM_FLOAT64)
    end do
    call sidestream_set_block(c%session, 'box', b%rank, b%lo(:axes), b%hi(:axes))
    call sidestream_start(c%session, code)
    ok = went_well(c, code)
  end subroutine declare

  !> Keeps the first failure's sentence.
  logical function went_well(c, code)
    type(coupling), intent(inout) :: c
    integer, intent(in) :: code
    went_well = .not. sidestream_failed(code)
    if (.not. went_well .and. .not. allocated(c%failure)) c%failure = sidestream_message(c%session)
  end function went_well

  !> Collective: ends the iteration, too. `ok` is false on every rank if an analysis or a call failed on any.
  subroutine publish(c, b, fields, step, ok)
    type(coupling), intent(inout) :: c
    type(blocks), intent(in) :: b
    real(real64), intent(in) :: fields(:, :, :, :)
    integer, intent(in) :: step
    logical, intent(out) :: ok
    integer :: i, code
    ok = .true.
    if (.not. c%used) return
    do i = 1, 3
      if (b%n(3) == 1) then
        call sidestream_publish(c%session, trim(names(i)), b%rank, fields(:, :, 1, i))
      else
        call sidestream_publish(c%session, trim(names(i)), b%rank, fields(:, :, :, i))
      end if
    end do
    call sidestream_end_iteration(c%session, step, real(step, real64), code)
    ok = went_well(c, code)
    ! Ranks learn of a failed analysis when they end an iteration, and not all in the same one.
    call MPI_Allreduce(MPI_IN_PLACE, ok, 1, MPI_LOGICAL, MPI_LAND, b%comm, code)
  end subroutine publish

  !> Collective over MPI_COMM_WORLD. `outcome` is a sentence about the iterations, `message` about this rank's first
  !> failure; both may be empty.
  subroutine close_coupling(c, outcome, message)
    type(coupling), intent(inout) :: c
    character(len=:), allocatable, intent(out) :: outcome, message
    type(sidestream_account) :: account
    character(len=160) :: text
    integer :: code
    outcome = ''
    message = ''
    if (.not. c%used) return
    call sidestream_close(c%session, account, code)
    if (.not. went_well(c, code) .or. allocated(c%failure)) message = c%failure
    if (account%iterations == 0) return
    write (text, '(a, 3(i0, a))') 'Sidestream: ', account%iterations, ' iterations, ', account%delivered, ' delivered, ', &
      account%refused + account%failed + account%unknown, ' refused, failed or unknown.'
    outcome = trim(text)
  end subroutine close_coupling
end module bec_coupling
