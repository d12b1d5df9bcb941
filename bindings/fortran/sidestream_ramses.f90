!> For the code RAMSES: publishes its tree, its cells and its particles. docs/code-ramses.md lists the lines to add.
!>
!> Depends on no module of RAMSES: arrays are arguments and have RAMSES' layout, in double precision.
module sidestream_ramses
  use, intrinsic :: iso_fortran_env, only: real64
  use sidestream
  use sidestream_ramses_base, only: sidestream_ramses_run, idle, declaring, publishing
  use sidestream_ramses_trees, only: sidestream_ramses_tree
  use sidestream_ramses_fields, only: sidestream_ramses_hydro, sidestream_ramses_gravity, sidestream_ramses_cells
  use sidestream_ramses_particle_lists, only: sidestream_ramses_particles
  use sidestream_ramses_starts, only: sidestream_ramses_start, sidestream_ramses_start_from, sidestream_ramses_flag, &
    sidestream_ramses_fill, sidestream_ramses_end_start
  implicit none
  private

  public :: sidestream_ramses_run, sidestream_ramses_open, sidestream_ramses_pass, sidestream_ramses_close
  public :: sidestream_ramses_tree, sidestream_ramses_hydro, sidestream_ramses_gravity, sidestream_ramses_cells
  public :: sidestream_ramses_particles
  public :: sidestream_ramses_start, sidestream_ramses_start_from, sidestream_ramses_flag, sidestream_ramses_fill
  public :: sidestream_ramses_end_start

contains

  !> Opens the session; collective over `comm`, which becomes the communicator of the ranks that run RAMSES. On ranks
  !> that are servers it serves until the run ends, closes, and sets run%was_server: call MPI_Finalize and stop then.
  subroutine sidestream_ramses_open(file, comm, run, ierr)
    character(len=*), intent(in) :: file
    integer, intent(inout) :: comm
    type(sidestream_ramses_run), intent(inout) :: run
    integer, intent(out), optional :: ierr
    integer :: all_ranks
    all_ranks = comm
    call sidestream_open(all_ranks, file, run%session, ierr)
    run%was_server = sidestream_is_server(run%session)
    if (run%was_server) then
      call sidestream_serve(run%session, ierr)
      call sidestream_close(run%session)
    else
      call sidestream_get_comm(run%session, comm)
    end if
  end subroutine sidestream_ramses_open

  !> True as long as the calls of one iteration are to be made. The first iteration of a session needs two passes: one
  !> declares and one publishes. Then it ends the iteration, and `ierr` is the code of that.
  logical function sidestream_ramses_pass(run, cycle, time, ierr) result(again)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, intent(in) :: cycle
    real(real64), intent(in) :: time
    integer, intent(out), optional :: ierr
    if (present(ierr)) ierr = SIDESTREAM_OK
    again = run%stage /= publishing
    select case (run%stage)
    case (idle)
      run%stage = merge(publishing, declaring, run%is_started)
    case (declaring)
      call sidestream_start(run%session, ierr)
      run%is_started = .true.
      run%stage = publishing
    case (publishing)
      call sidestream_end_iteration(run%session, cycle, time, ierr)
      run%stage = idle
    end select
  end function sidestream_ramses_pass

  !> Closes the session; collective. Before MPI_Finalize.
  subroutine sidestream_ramses_close(run, ierr)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, intent(out), optional :: ierr
    call sidestream_close(run%session, ierr=ierr)
  end subroutine sidestream_ramses_close
end module sidestream_ramses
