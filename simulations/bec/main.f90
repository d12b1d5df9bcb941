!> A Bose-Einstein condensate with quantum vortices. `bec --help` lists the options.
program bec
  use bec_coupling, only: coupling, close_coupling, open_coupling, serves
  use bec_options, only: help, options, read_options
  use bec_simulation, only: simulate
  use mpi
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  implicit none

  interface
    !> C's: Fortran's `stop` prints a line on every rank.
    subroutine end_process(status) bind(c, name='exit')
      import :: c_int
      integer(c_int), value :: status
    end subroutine end_process
  end interface

  type(options) :: chosen
  type(coupling) :: link
  character(len=:), allocatable :: message, outcome
  integer :: code, provided, rank, status
  ! Allows a thread of Sidestream to move data while a step is computed (placement nodes); lower levels work, too.
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  status = 0
  call read_options(chosen, message)
  if (message /= '') then
    call complain(message // ". See 'bec --help'.", 2)
  else if (chosen%help) then
    if (rank == 0) print '(a)', help()
  else
    call work()
  end if
  call MPI_Finalize(code)
  flush (output_unit)
  call end_process(int(status, c_int))

contains

  subroutine work()
    character(len=:), allocatable :: said
    call open_coupling(trim(chosen%sidestream), link, message)
    if (message /= '') then
      call complain(message, 1)
      return
    end if
    said = ''
    if (.not. serves(link)) call simulate(chosen, link, said)
    call close_coupling(link, outcome, message)
    if (said /= '') message = said
    call tell(message)
    if (rank == 0 .and. .not. chosen%quiet .and. outcome /= '') print '(a)', outcome
  end subroutine work

  !> Collective over MPI_COMM_WORLD: the lowest rank that has a message prints it, and all fail.
  subroutine tell(text)
    character(len=*), intent(in) :: text
    integer :: ranks, lowest
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
    lowest = merge(ranks, rank, text == '')
    call MPI_Allreduce(MPI_IN_PLACE, lowest, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, code)
    if (lowest == rank) write (error_unit, '(2a)') 'bec: ', text
    if (lowest < ranks) status = 1
  end subroutine tell

  !> Prints an error that is the same on every rank.
  subroutine complain(text, with)
    character(len=*), intent(in) :: text
    integer, intent(in) :: with
    if (rank == 0) write (error_unit, '(2a)') 'bec: ', text
    status = with
  end subroutine complain
end program bec
