!> Communicators of the module mpi_f08.
module sidestream_f08
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use mpi_f08, only: MPI_Comm
  use sidestream_base
  use sidestream_readers, only: open_reader, sidestream_reader
  use sidestream_restarts, only: open_from => open_restart, sidestream_restart
  implicit none
  private

  interface sidestream_open
    module procedure open_file
  end interface sidestream_open
  interface sidestream_open_text
    module procedure open_text
  end interface sidestream_open_text
  interface sidestream_get_comm
    module procedure get_comm
  end interface sidestream_get_comm
  interface sidestream_restart_open
    module procedure open_newest, open_cycle32, open_cycle64
  end interface sidestream_restart_open
  interface sidestream_reader_open
    module procedure open_database
  end interface sidestream_reader_open
  public :: sidestream_restart_open, sidestream_reader_open
  public :: sidestream_open, sidestream_open_text, sidestream_get_comm

contains

  subroutine open_file(comm, file, session, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: file
    type(sidestream_session), intent(out) :: session
    integer, intent(out), optional :: ierr
    call open_session(comm%MPI_VAL, file, .false., session, ierr)
  end subroutine open_file

  subroutine open_text(comm, text, session, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: text
    type(sidestream_session), intent(out) :: session
    integer, intent(out), optional :: ierr
    call open_session(comm%MPI_VAL, text, .true., session, ierr)
  end subroutine open_text

  subroutine get_comm(session, comm)
    type(sidestream_session), intent(in) :: session
    type(MPI_Comm), intent(out) :: comm
    comm%MPI_VAL = comm_of(session)
  end subroutine get_comm

  subroutine open_newest(comm, directory, restart, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: directory
    type(sidestream_restart), intent(out) :: restart
    integer, intent(out), optional :: ierr
    call open_from(comm%MPI_VAL, directory, restart, ierr=ierr)
  end subroutine open_newest

  subroutine open_cycle32(comm, directory, cycle, restart, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: directory
    integer(int32), intent(in) :: cycle
    type(sidestream_restart), intent(out) :: restart
    integer, intent(out), optional :: ierr
    call open_from(comm%MPI_VAL, directory, restart, int(cycle, int64), ierr)
  end subroutine open_cycle32

  subroutine open_cycle64(comm, directory, cycle, restart, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: directory
    integer(int64), intent(in) :: cycle
    type(sidestream_restart), intent(out) :: restart
    integer, intent(out), optional :: ierr
    call open_from(comm%MPI_VAL, directory, restart, cycle, ierr)
  end subroutine open_cycle64

  subroutine open_database(comm, directory, reader, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: directory
    type(sidestream_reader), intent(out) :: reader
    integer, intent(out), optional :: ierr
    call open_reader(.true., comm%MPI_VAL, directory, reader, ierr)
  end subroutine open_database
end module sidestream_f08
