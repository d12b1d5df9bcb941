!> Functions of the program as analyses.
module sidestream_functions
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use sidestream_base
  use sidestream_c
  implicit none
  private
  public :: sidestream_register_function
  public :: sidestream_input_index, sidestream_input_cycle, sidestream_input_time, sidestream_input_blocks, get_block
  public :: sidestream_input_events, sidestream_input_event

  integer, parameter :: message_bytes = 512

contains

  !> Registers an analysis. `name` is its name in the configuration; a partial has `partial_size` numbers. Call it on
  !> every rank, servers too, before serve and start. The procedures must not be internal ones of a procedure that ends
  !> before the session does.
  subroutine sidestream_register_function(session, name, partial_size, local, combine, merge, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name
    integer, intent(in) :: partial_size
    procedure(sidestream_local) :: local
    procedure(sidestream_combine), optional :: combine
    procedure(sidestream_merge), optional :: merge
    integer, intent(out), optional :: ierr
    type(procedures), pointer :: all
    integer(c_int) :: has_combine, has_merge
    if (partial_size < 0) then
      call misuse(session, 'register_function: partial_size is negative, expected how many numbers a partial has', ierr)
      return
    end if
    allocate (all)
    all%local => local
    all%partial_size = partial_size
    has_combine = 0
    has_merge = 0
    if (present(combine)) then
      all%combine => combine
      has_combine = 1
    end if
    if (present(merge)) then
      all%merge => merge
      has_merge = 1
    end if
    call keep_functions(session, all)
    call settle(session, c_register(handle_of(session), trim(name) // c_null_char, &
                                    int(partial_size, c_size_t) * 8_c_size_t, has_combine, has_merge, c_loc(all)), ierr)
  end subroutine sidestream_register_function

  integer(int64) function sidestream_input_index(input)
    type(sidestream_input), intent(in) :: input
    sidestream_input_index = c_input_index(input_handle(input))
  end function sidestream_input_index

  integer(int64) function sidestream_input_cycle(input)
    type(sidestream_input), intent(in) :: input
    sidestream_input_cycle = c_input_cycle(input_handle(input))
  end function sidestream_input_cycle

  real(real64) function sidestream_input_time(input)
    type(sidestream_input), intent(in) :: input
    sidestream_input_time = c_input_time(input_handle(input))
  end function sidestream_input_time

  !> Number of events with values, and of barriers, that this server sees in the iteration.
  integer(int64) function sidestream_input_events(input)
    type(sidestream_input), intent(in) :: input
    sidestream_input_events = c_input_events(input_handle(input))
  end function sidestream_input_events

  !> Event number `n`, counted from 1: its name, the client that raised it (-1: all, at a barrier), and its values as
  !> reals; none if their type is neither real(real64) nor integer(int64). False if there is no such event.
  logical function sidestream_input_event(input, n, name, client, values)
    type(sidestream_input), intent(in) :: input
    integer(int64), intent(in) :: n
    character(len=:), allocatable, intent(out) :: name
    integer, intent(out) :: client
    real(real64), allocatable, intent(out) :: values(:)
    type(c_event) :: event
    character(kind=c_char), pointer :: text(:)
    real(c_double), pointer :: reals(:)
    integer(c_int64_t), pointer :: integers(:)
    integer :: length
    client = -1
    allocate (values(0))
    name = ''
    event%struct_size = c_sizeof(event)
    sidestream_input_event = c_input_event(input_handle(input), n - 1, event) == SIDESTREAM_OK
    if (.not. sidestream_input_event) return
    client = int(event%client)
    call c_f_pointer(event%name, text, [4096])
    length = 0
    do while (text(length + 1) /= c_null_char)
      length = length + 1
      name = name // text(length)
    end do
    if (event%count == 0) return
    if (event%type == SIDESTREAM_FLOAT64) then
      call c_f_pointer(event%values, reals, [event%count])
      values = reals
    else if (event%type == SIDESTREAM_INT64) then
      call c_f_pointer(event%values, integers, [event%count])
      values = real(integers, real64)
    end if
  end function sidestream_input_event

  !> Number of blocks of the variable here; 0 if the analysis does not read it.
  integer(int64) function sidestream_input_blocks(input, variable)
    type(sidestream_input), intent(in) :: input
    character(len=*), intent(in) :: variable
    sidestream_input_blocks = c_input_blocks(input_handle(input), trim(variable) // c_null_char)
  end function sidestream_input_blocks

  subroutine get_block(input, variable, n, block, ierr)
    type(sidestream_input), intent(in) :: input
    character(len=*), intent(in) :: variable
    integer(int64), intent(in) :: n
    type(sidestream_block), intent(out) :: block
    integer, intent(out), optional :: ierr
    type(c_block) :: found
    character(len=32) :: number
    if (present(ierr)) ierr = SIDESTREAM_OK
    found%struct_size = c_sizeof(found)
    if (c_input_block(input_handle(input), trim(variable) // c_null_char, n - 1, found) /= SIDESTREAM_OK) then
      write (number, '(i0)') n
      call input_failed(input, "there is no block number " // trim(number) // " of '" // trim(variable) // &
                        "' on this server; sidestream_input_blocks says how many there are", ierr)
      return
    end if
    block = sidestream_block(found%block, int(found%level), int(found%client), int(found%type), int(found%components), &
                             found%owned_lo, found%owned_hi, found%owned_is_box /= 0, found%lo, found%hi, &
                             found%strides, found%data)
  end subroutine get_block

  ! ---- called by shims.c ---------------------------------------------------------------------------------------

  !> Returns 0, or another number with a sentence in `to`, which has room for message_bytes.
  function told(status, message, problem, to) result(code)
    integer, intent(in) :: status
    character(len=*), intent(in) :: message
    type(kept_problem), intent(in) :: problem
    character(kind=c_char), intent(inout) :: to(*)
    integer(c_int) :: code
    character(len=message_bytes - 1) :: text
    integer :: n
    code = int(status, c_int)
    if (status == 0 .and. problem%code == 0) return
    if (status == 0) code = int(problem%code, c_int)
    text = message
    if (text == '' .and. allocated(problem%text)) text = problem%text
    do n = 1, len_trim(text)
      to(n) = text(n:n)
    end do
    to(len_trim(text) + 1) = c_null_char
  end function told

  function call_local(input, partial, message, user) bind(C, name='sidestream_fortran_local') result(code)
    type(c_ptr), value :: input, partial, user
    character(kind=c_char), intent(inout) :: message(*)
    integer(c_int) :: code
    type(procedures), pointer :: all
    type(kept_problem), target :: problem
    real(real64), pointer :: mine(:)
    character(len=message_bytes - 1) :: text
    integer :: status
    call c_f_pointer(user, all)
    status = 0
    text = ''
    mine => numbers(partial, all%partial_size)
    call all%local(make_input(input, problem), mine, text, status)
    code = told(status, text, problem, message)
  end function call_local

  function call_combine(input, partial, servers, message, user) bind(C, name='sidestream_fortran_combine') &
      result(code)
    type(c_ptr), value :: input, partial, user
    integer(c_int), value :: servers
    character(kind=c_char), intent(inout) :: message(*)
    integer(c_int) :: code
    type(procedures), pointer :: all
    type(kept_problem), target :: problem
    real(real64), pointer :: mine(:)
    character(len=message_bytes - 1) :: text
    integer :: status
    call c_f_pointer(user, all)
    status = 0
    text = ''
    mine => numbers(partial, all%partial_size)
    call all%combine(make_input(input, problem), mine, int(servers), text, status)
    code = told(status, text, problem, message)
  end function call_combine

  function call_merge(partial, other, message, user) bind(C, name='sidestream_fortran_merge') result(code)
    type(c_ptr), value :: partial, other, user
    character(kind=c_char), intent(inout) :: message(*)
    integer(c_int) :: code
    type(procedures), pointer :: all
    type(kept_problem) :: problem
    real(real64), pointer :: mine(:), theirs(:)
    character(len=message_bytes - 1) :: text
    integer :: status
    call c_f_pointer(user, all)
    status = 0
    text = ''
    mine => numbers(partial, all%partial_size)
    theirs => numbers(other, all%partial_size)
    call all%merge(mine, theirs, text, status)
    code = told(status, text, problem, message)
  end function call_merge

  !> A partial of C as an array.
  function numbers(from, count) result(array)
    type(c_ptr), intent(in) :: from
    integer, intent(in) :: count
    real(real64), pointer :: array(:)
    real(real64), target, save :: none(1)
    array => none(1:0)
    if (count > 0) call c_f_pointer(from, array, [count])
  end function numbers
end module sidestream_functions
