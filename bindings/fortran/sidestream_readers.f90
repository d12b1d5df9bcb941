!> Databases: the functions of sidestream/reader.h that open them and list their contexts. sidestream_contexts.f90 has
!> those of contexts.
module sidestream_readers
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use sidestream_base, only: settle_errors, kept_errors, tell_kept, text_of
  use sidestream_c
  implicit none
  private

  !> A database. Must not be copied.
  type, public :: sidestream_reader
    private
    type(c_ptr) :: handle = c_null_ptr
    type(kept_errors) :: errors
  end type sidestream_reader

  !> A context as a database lists it; see sidestream_stored_context in reader.h.
  type, public :: sidestream_stored_context
    integer(int64) :: slot = 0, index = 0, cycle = 0
    real(real64) :: time = 0
    integer :: run = 0
    logical :: is_checkpoint = .false.
    integer(int64) :: blocks = 0, bytes = 0, stored_bytes = 0
  end type sidestream_stored_context

  interface sidestream_reader_open
    module procedure open_alone
  end interface sidestream_reader_open
  interface sidestream_reader_find_cycle
    module procedure find_cycle32, find_cycle64
  end interface sidestream_reader_find_cycle
  public :: sidestream_reader_open, sidestream_reader_close, sidestream_reader_message, sidestream_reader_remarks
  public :: sidestream_reader_context_count, sidestream_reader_context, sidestream_reader_find_cycle
  ! For the other modules of the library.
  public :: open_reader, reader_handle, reader_speaks, settle_reader

contains

  !> Opens a database for this process only; needs no MPI_Init.
  subroutine open_alone(directory, reader, ierr)
    character(len=*), intent(in) :: directory
    type(sidestream_reader), intent(out) :: reader
    integer, intent(out), optional :: ierr
    call open_reader(.false., 0, directory, reader, ierr)
  end subroutine open_alone

  subroutine open_reader(has_comm, comm, directory, reader, ierr)
    logical, intent(in) :: has_comm
    integer, intent(in) :: comm
    character(len=*), intent(in) :: directory
    type(sidestream_reader), intent(out) :: reader
    integer, intent(out), optional :: ierr
    integer(c_int) :: code, rank
    code = c_reader_open(merge(1_c_int, 0_c_int, has_comm), int(comm, c_int), trim(directory) // c_null_char, &
                         reader%handle, rank)
    reader%errors%speaks = rank == 0
    call settle_reader(reader, code, ierr, of_all=.true.)
  end subroutine open_reader

  !> Closes the database. Not collective; contexts stay open. Prints a kept error on standard error if there is no `ierr`
  !> to return it.
  subroutine sidestream_reader_close(reader, ierr)
    type(sidestream_reader), intent(inout) :: reader
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = c_reader_close(reader%handle)
    reader%handle = c_null_ptr
    call settle_reader(reader, code, ierr)
    call tell_kept(reader%errors)
  end subroutine sidestream_reader_close

  !> The sentence for the last code that was not SIDESTREAM_OK, or for the kept error that `ierr` returned.
  function sidestream_reader_message(reader) result(message)
    type(sidestream_reader), intent(in) :: reader
    character(len=:), allocatable :: message
    message = ''
    if (allocated(reader%errors%message)) message = reader%errors%message
  end function sidestream_reader_message

  !> Remarks on broken parts of the list of contexts, one line each; may be empty.
  function sidestream_reader_remarks(reader) result(remarks)
    type(sidestream_reader), intent(in) :: reader
    character(len=:), allocatable :: remarks
    remarks = text_of(c_reader_remarks(reader%handle))
  end function sidestream_reader_remarks

  !> The number of contexts; 0 if the database could not be opened.
  function sidestream_reader_context_count(reader) result(count)
    type(sidestream_reader), intent(in) :: reader
    integer :: count
    integer(c_int64_t) :: found
    found = 0
    if (c_reader_context_count(reader%handle, found) /= SIDESTREAM_OK) found = 0
    count = int(found)
  end function sidestream_reader_context_count

  !> Context number `n`, counted from 1, in the order of writing.
  subroutine sidestream_reader_context(reader, n, listed, ierr)
    type(sidestream_reader), intent(inout) :: reader
    integer, intent(in) :: n
    type(sidestream_stored_context), intent(out) :: listed
    integer, intent(out), optional :: ierr
    type(c_stored_context) :: found
    integer(c_int) :: code
    found%struct_size = c_sizeof(found)
    code = c_reader_context(reader%handle, int(n - 1, c_int64_t), found)
    call settle_reader(reader, code, ierr)
    if (code /= SIDESTREAM_OK) return
    listed = sidestream_stored_context(found%slot, found%index, found%cycle, found%time, int(found%run), &
                                       found%is_checkpoint /= 0, found%blocks, found%bytes, found%stored_bytes)
  end subroutine sidestream_reader_context

  !> The number, from 1, of the context of this cycle that was written last; 0 if there is none, with an error.
  subroutine find_cycle64(reader, cycle, n, ierr)
    type(sidestream_reader), intent(inout) :: reader
    integer(int64), intent(in) :: cycle
    integer, intent(out) :: n
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: number
    number = -1
    call settle_reader(reader, c_reader_find_cycle(reader%handle, cycle, number), ierr)
    n = int(number) + 1
  end subroutine find_cycle64

  subroutine find_cycle32(reader, cycle, n, ierr)
    type(sidestream_reader), intent(inout) :: reader
    integer(int32), intent(in) :: cycle
    integer, intent(out) :: n
    integer, intent(out), optional :: ierr
    call find_cycle64(reader, int(cycle, int64), n, ierr)
  end subroutine find_cycle32

  ! ---- for the other modules -----------------------------------------------------------------------------------

  pure function reader_handle(reader) result(handle)
    type(sidestream_reader), intent(in) :: reader
    type(c_ptr) :: handle
    handle = reader%handle
  end function reader_handle

  pure function reader_speaks(reader) result(speaks)
    type(sidestream_reader), intent(in) :: reader
    logical :: speaks
    speaks = reader%errors%speaks
  end function reader_speaks

  subroutine settle_reader(reader, code, ierr, of_all)
    type(sidestream_reader), intent(inout) :: reader
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierr
    logical, intent(in), optional :: of_all
    character(len=:), allocatable :: said
    said = ''
    if (code /= SIDESTREAM_OK) said = text_of(c_reader_message(reader%handle))
    call settle_errors(reader%errors, code, said, ierr, of_all)
  end subroutine settle_reader
end module sidestream_readers
