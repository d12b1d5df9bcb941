!> Types and constants of the module `sidestream`, and errors that are kept.
module sidestream_base
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use sidestream_c
  implicit none
  private

  !> Counts of what happened to the iterations; see sidestream_account in sidestream.h.
  type, public :: sidestream_account
    integer(int64) :: iterations = 0, delivered = 0, refused = 0, failed = 0, unknown = 0, absent_blocks = 0
    integer(int64) :: bytes_published = 0, dropped = 0, spilled = 0, bytes_spilled = 0
  end type sidestream_account

  !> One block of one variable on a server; see sidestream_block in sidestream.h. Boxes are half-open, from 0.
  type, public :: sidestream_block
    integer(int64) :: block = -1
    integer :: level = 0, client = -1, type = SIDESTREAM_FLOAT64, components = 1
    integer(int64) :: owned_lo(3) = 0, owned_hi(3) = 0
    logical :: owned_is_box = .true.
    integer(int64) :: lo(3) = 0, hi(3) = 0, strides(4) = 0
    type(c_ptr) :: data = c_null_ptr
  end type sidestream_block

  !> An error that has not been reported.
  type, public :: kept_problem
    integer :: code = SIDESTREAM_OK
    logical :: of_all = .false. !< the same on every rank
    character(len=:), allocatable :: text
  end type kept_problem

  !> The errors of a handle: one that has not been reported, and the last sentence.
  type, public :: kept_errors
    type(kept_problem) :: kept
    logical :: speaks = .true. !< for all ranks: rank 0
    character(len=:), allocatable :: message
  end type kept_errors

  !> The input of a function of the program on a server, during the call.
  type, public :: sidestream_input
    private
    type(c_ptr) :: handle = c_null_ptr
    type(kept_problem), pointer :: problem => null()
  end type sidestream_input

  abstract interface
    !> Runs on every server and must not communicate. Writes its result for the blocks to `partial`, which is 0 before.
    !> Fails if it sets `status` to something other than 0, with a sentence in `message`.
    subroutine sidestream_local(input, partial, message, status)
      import :: real64, sidestream_input
      implicit none
      type(sidestream_input), intent(in) :: input
      real(real64), intent(inout) :: partial(:)
      character(len=*), intent(inout) :: message
      integer, intent(inout) :: status
    end subroutine sidestream_local

    !> Runs afterwards on every server, collectively; `servers` is a communicator of this analysis only, as in `use
    !> mpi`.
    subroutine sidestream_combine(input, partial, servers, message, status)
      import :: real64, sidestream_input
      implicit none
      type(sidestream_input), intent(in) :: input
      real(real64), intent(inout) :: partial(:)
      integer, intent(in) :: servers
      character(len=*), intent(inout) :: message
      integer, intent(inout) :: status
    end subroutine sidestream_combine

    !> Adds `other` to `partial`, in any order; for `forward: partials`.
    subroutine sidestream_merge(partial, other, message, status)
      import :: real64
      implicit none
      real(real64), intent(inout) :: partial(:)
      real(real64), intent(in) :: other(:)
      character(len=*), intent(inout) :: message
      integer, intent(inout) :: status
    end subroutine sidestream_merge
  end interface
  public :: sidestream_local, sidestream_combine, sidestream_merge

  !> The procedures of one analysis of the program. Freed with their session.
  type, public :: procedures
    procedure(sidestream_local), pointer, nopass :: local => null()
    procedure(sidestream_combine), pointer, nopass :: combine => null()
    procedure(sidestream_merge), pointer, nopass :: merge => null()
    integer :: partial_size = 0
    type(procedures), pointer :: next => null()
  end type procedures

  !> The handle of one run. Must not be copied.
  type, public :: sidestream_session
    private
    type(c_ptr) :: handle = c_null_ptr
    integer :: comm = 0 !< as given to open
    type(kept_errors) :: errors
    type(procedures), pointer :: functions => null()
  end type sidestream_session

  public :: sidestream_failed, sidestream_message
  ! For the other modules of the library.
  public :: handle_of, open_session, comm_of, settle, settle_errors, tell_kept, misuse, close_session, keep_functions, text_of
  public :: make_input, input_handle, input_failed

contains

  !> True if a code is an error. A refusal is none.
  elemental logical function sidestream_failed(code)
    integer, intent(in) :: code
    sidestream_failed = code /= SIDESTREAM_OK .and. code /= SIDESTREAM_REFUSED
  end function sidestream_failed

  !> The sentence for the last code that was not SIDESTREAM_OK, or for the kept error that `ierr` returned.
  function sidestream_message(session) result(message)
    type(sidestream_session), intent(in) :: session
    character(len=:), allocatable :: message
    message = ''
    if (allocated(session%errors%message)) message = session%errors%message
  end function sidestream_message

  pure function handle_of(session) result(handle)
    type(sidestream_session), intent(in) :: session
    type(c_ptr) :: handle
    handle = session%handle
  end function handle_of

  !> The session's communicator. If open has failed: the communicator that it was given, so that the program continues
  !> without a side stream.
  integer function comm_of(session) result(comm)
    type(sidestream_session), intent(in) :: session
    comm = session%comm
    if (c_associated(session%handle)) comm = int(c_comm(session%handle))
  end function comm_of

  !> Converts a C string.
  function text_of(from) result(text)
    type(c_ptr), intent(in) :: from
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: n
    allocate (character(len=int(c_strlen(from))) :: text)
    call c_f_pointer(from, characters, [len(text)])
    do n = 1, len(text)
      text(n:n) = characters(n)
    end do
  end function text_of

  !> Ends every call on a session. `said` is the sentence if it is not C's.
  subroutine settle(session, code, ierr, of_all, said)
    type(sidestream_session), intent(inout) :: session
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierr
    logical, intent(in), optional :: of_all
    character(len=*), intent(in), optional :: said
    character(len=:), allocatable :: text
    text = ''
    if (present(said)) then
      text = said
    else if (code /= SIDESTREAM_OK) then
      text = text_of(c_message(session%handle))
    end if
    call settle_errors(session%errors, code, text, ierr, of_all)
  end subroutine settle

  !> Ends a call. `ierr` gets the code, or that of the first error kept before; without `ierr` an error is kept. `of_all`:
  !> the error is the same on every rank.
  subroutine settle_errors(errors, code, said, ierr, of_all)
    type(kept_errors), intent(inout) :: errors
    integer(c_int), intent(in) :: code
    character(len=*), intent(in) :: said
    integer, intent(out), optional :: ierr
    logical, intent(in), optional :: of_all
    type(kept_problem) :: now
    now%code = int(code)
    now%text = said
    if (present(of_all)) now%of_all = of_all
    if (code /= SIDESTREAM_OK) errors%message = said
    if (present(ierr)) then
      ierr = now%code
      if (errors%kept%code == SIDESTREAM_OK) return
      ierr = errors%kept%code
      errors%message = errors%kept%text
      errors%kept%code = SIDESTREAM_OK
    end if
    if (errors%kept%code == SIDESTREAM_OK .and. sidestream_failed(now%code)) errors%kept = now
  end subroutine settle_errors

  !> Prints an error that nobody has asked for; on rank 0 if all ranks have it.
  subroutine tell_kept(errors)
    type(kept_errors), intent(inout) :: errors
    if (errors%kept%code == SIDESTREAM_OK) return
    if (errors%speaks .or. .not. errors%kept%of_all) write (error_unit, '(2a)') 'sidestream: ', errors%kept%text
    errors%kept%code = SIDESTREAM_OK
  end subroutine tell_kept

  !> Reports an error that is found here.
  subroutine misuse(session, said, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: said
    integer, intent(out), optional :: ierr
    call settle(session, int(SIDESTREAM_ERROR_USAGE, c_int), ierr, said=said)
  end subroutine misuse

  subroutine open_session(comm, given, is_text, session, ierr)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: given
    logical, intent(in) :: is_text
    type(sidestream_session), intent(out) :: session
    integer, intent(out), optional :: ierr
    integer(c_int) :: rank, code
    session%comm = comm
    code = c_open(int(comm, c_int), trim(given) // c_null_char, merge(1_c_int, 0_c_int, is_text), session%handle, rank)
    session%errors%speaks = rank == 0
    call settle(session, code, ierr, of_all=.true.)
  end subroutine open_session

  subroutine close_session(session, account, ierr)
    type(sidestream_session), intent(inout) :: session
    type(c_account), intent(inout) :: account
    integer, intent(out), optional :: ierr
    type(procedures), pointer :: next
    integer(c_int) :: code
    code = SIDESTREAM_OK
    ! After an open that failed without `ierr`, there is nothing to close but an error to be reported.
    if (c_associated(session%handle) .or. session%errors%kept%code == SIDESTREAM_OK) then
      code = c_close_with_account(session%handle, account)
    end if
    session%handle = c_null_ptr
    call settle(session, code, ierr, of_all=.true.)
    call tell_kept(session%errors)
    do while (associated(session%functions))
      next => session%functions%next
      deallocate (session%functions)
      session%functions => next
    end do
  end subroutine close_session

  !> Takes ownership of `functions`.
  subroutine keep_functions(session, functions)
    type(sidestream_session), intent(inout) :: session
    type(procedures), pointer, intent(in) :: functions
    functions%next => session%functions
    session%functions => functions
  end subroutine keep_functions

  function make_input(handle, problem) result(input)
    type(c_ptr), intent(in) :: handle
    type(kept_problem), target, intent(inout) :: problem
    type(sidestream_input) :: input
    input%handle = handle
    input%problem => problem
  end function make_input

  pure function input_handle(input) result(handle)
    type(sidestream_input), intent(in) :: input
    type(c_ptr) :: handle
    handle = input%handle
  end function input_handle

  !> Reports an error like misuse; without `ierr` the function fails with the first of these sentences.
  subroutine input_failed(input, said, ierr)
    type(sidestream_input), intent(in) :: input
    character(len=*), intent(in) :: said
    integer, intent(out), optional :: ierr
    if (present(ierr)) then
      ierr = SIDESTREAM_ERROR_USAGE
    else if (associated(input%problem)) then
      if (input%problem%code /= SIDESTREAM_OK) return
      input%problem%code = SIDESTREAM_ERROR_USAGE
      input%problem%text = said
    end if
  end subroutine input_failed
end module sidestream_base
