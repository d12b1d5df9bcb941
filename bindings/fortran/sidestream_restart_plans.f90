!> Plans for reading into an array: its axes, and the check that it fits. Internal to sidestream_restart_read_box,
!> _read_list, _read_block.
module sidestream_restart_plans
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use sidestream_base
  use sidestream_restart_c
  use sidestream_restarts
  implicit none
  private

  integer, parameter :: box = 1, list = 2, block = 3

  type, public :: reading
    logical :: fits = .false. !< nothing has failed
    logical :: straight = .false. !< the checkpoint's values have the layout of a contiguous array
    integer :: axes(4) = [1, 2, 3, 4] !< axes of the array, beginning with the one that runs fastest in the checkpoint
    character(len=:), allocatable :: variable
    integer :: what = box
    integer(int64) :: level = 0, lo(3) = 0, hi(3) = 1
    integer(int64) :: first = 0, count = 0
    integer(int64) :: id = -1, bytes = 0
  end type reading

  character(len=*), parameter :: names(0:9) = &
    ['int8   ', 'int16  ', 'int32  ', 'int64  ', 'uint8  ', 'uint16 ', 'uint32 ', 'uint64 ', 'float32', 'float64']

  public :: plan_box, plan_list, plan_block, run_reading, no_memory

contains

  !> Plans the points lo <= index < hi, with an entry for each axis of the mesh.
  subroutine plan_box(restart, variable, type, lo, hi, extents, level, component_axis, plan, ierr)
    type(sidestream_restart), intent(inout) :: restart
    character(len=*), intent(in) :: variable
    integer, intent(in) :: type
    integer(int64), intent(in) :: lo(:), hi(:), extents(:)
    integer, intent(in), optional :: level, component_axis
    type(reading), intent(out) :: plan
    integer, intent(out), optional :: ierr
    plan%what = box
    if (present(level)) plan%level = level
    if (size(lo) /= size(hi) .or. size(lo) < 1 .or. size(lo) > 3) then
      call misuse_restart(restart, "restart_read_box of '" // trim(variable) // "': lo has " &
                          // text_of_number(size(lo, kind=int64)) // ' entries and hi ' // text_of_number(size(hi, kind=int64)) &
                          // ', expected 1 to 3, as many of each; give one for each axis of the mesh', ierr)
      return
    end if
    plan%lo(:size(lo)) = lo
    plan%hi(:size(hi)) = hi
    call fit(restart, 'restart_read_box', variable, type, max(hi - lo, 0_int64), extents, component_axis, plan, ierr)
  end subroutine plan_box

  !> Plans values from `first` on, counted from 0, as many as the array has room for.
  subroutine plan_list(restart, variable, type, first, extents, component_axis, plan, ierr)
    type(sidestream_restart), intent(inout) :: restart
    character(len=*), intent(in) :: variable
    integer, intent(in) :: type
    integer(int64), intent(in) :: first, extents(:)
    integer, intent(in), optional :: component_axis
    type(reading), intent(out) :: plan
    integer, intent(out), optional :: ierr
    plan%what = list
    plan%first = first
    call fit(restart, 'restart_read_list', variable, type, [-1_int64], extents, component_axis, plan, ierr)
  end subroutine plan_list

  !> Plans all of the block with number `id`.
  subroutine plan_block(restart, variable, type, id, extents, bytes, component_axis, plan, ierr)
    type(sidestream_restart), intent(inout) :: restart
    character(len=*), intent(in) :: variable
    integer, intent(in) :: type, bytes
    integer(int64), intent(in) :: id, extents(:)
    integer, intent(in), optional :: component_axis
    type(reading), intent(out) :: plan
    integer, intent(out), optional :: ierr
    type(sidestream_stored_variable) :: about
    integer(int64) :: points(3)
    integer :: code, axes
    plan%what = block
    plan%id = id
    plan%bytes = product(extents) * bytes
    call sidestream_restart_variable(restart, variable, about, code)
    if (code /= SIDESTREAM_OK) then
      call settle_restart(restart, int(code, c_int), ierr, sidestream_restart_message(restart))
      return
    end if
    if (about%is_list) then
      call fit(restart, 'restart_read_block', variable, type, [-1_int64], extents, component_axis, plan, ierr)
      return
    end if
    call find_points(restart, about, id, points, code)
    if (code /= SIDESTREAM_OK) then
      call settle_restart(restart, int(code, c_int), ierr, "restart_read_block of '" // trim(variable) // "': " &
                          // sidestream_restart_message(restart))
      return
    end if
    axes = min(3, size(extents) - merge(1, 0, about%components > 1 .or. present(component_axis)))
    if (any(points(axes + 1:) > 1)) axes = 3
    call fit(restart, 'restart_read_block', variable, type, points(:max(axes, 1)), extents, component_axis, plan, ierr)
  end subroutine plan_block

  !> Number of points of the variable on a block along each axis.
  subroutine find_points(restart, about, id, points, code)
    type(sidestream_restart), intent(inout) :: restart
    type(sidestream_stored_variable), intent(in) :: about
    integer(int64), intent(in) :: id
    integer(int64), intent(out) :: points(3)
    integer, intent(out) :: code
    type(sidestream_stored_block) :: found
    integer(int64) :: n, count
    integer :: axis
    points = 0
    call sidestream_restart_block_count(restart, about%mesh, count, code)
    do n = 1, count
      call sidestream_restart_block(restart, about%mesh, n, found, code)
      if (code /= SIDESTREAM_OK) return
      if (found%id == id) exit
    end do
    if (code == SIDESTREAM_OK .and. found%id /= id) then
      call misuse_restart(restart, "the mesh '" // about%mesh // "' has no block " // text_of_number(id) &
                          // ' in the checkpoint; see which there are', code)
      return
    end if
    do axis = 1, 3
      points(axis) = found%hi(axis) - found%lo(axis) + merge(1, 0, btest(about%centering, axis - 1))
    end do
  end subroutine find_points

  !> Completes the plan: `points` are to be read along each axis of the mesh, -1 for as many as the array has.
  subroutine fit(restart, call_name, variable, type, points, extents, component_axis, plan, ierr)
    type(sidestream_restart), intent(inout) :: restart
    character(len=*), intent(in) :: call_name, variable
    integer, intent(in) :: type
    integer(int64), intent(in) :: points(:), extents(:)
    integer, intent(in), optional :: component_axis
    type(reading), intent(inout) :: plan
    integer, intent(out), optional :: ierr
    type(sidestream_stored_variable) :: about
    integer(int64) :: expected(4)
    integer :: code, rank, component, n, axis
    character(len=:), allocatable :: said
    said = call_name // " of '" // trim(variable) // "': "
    rank = size(extents)
    call sidestream_restart_variable(restart, variable, about, code)
    if (code /= SIDESTREAM_OK) then
      call settle_restart(restart, int(code, c_int), ierr, sidestream_restart_message(restart))
      return
    end if
    if (type /= about%type .and. .not. (about%type >= SIDESTREAM_UINT8 .and. about%type <= SIDESTREAM_UINT64 &
                                        .and. type == about%type - SIDESTREAM_UINT8)) then
      call misuse_restart(restart, said // 'the array is of ' // trim(names(type)) // ', and the checkpoint has ' &
                          // trim(names(about%type)) // '; give an array of that kind', ierr)
      return
    end if
    if (about%is_list .neqv. points(1) < 0) then
      call misuse_restart(restart, said // merge('it is a list; read it with restart_read_list or restart_read_block', &
                                                 'it is no list; read it with restart_read_box or restart_read_block', &
                                                 about%is_list), ierr)
      return
    end if
    component = 0
    if (rank == size(points) + 1) then
      component = rank
      if (present(component_axis)) component = component_axis
    end if
    if (component < 0 .or. component > rank .or. rank /= size(points) + merge(1, 0, component > 0) &
        .or. (component == 0 .and. about%components > 1)) then
      call misuse_restart(restart, said // 'the array has rank ' // text_of_number(int(rank, int64)) // ', expected ' &
                          // text_of_number(size(points, kind=int64)) // ' axes of the mesh' // merge(' and one of components', &
                          '                      ', about%components > 1) // '; see component_axis', ierr)
      return
    end if
    n = 0
    do axis = 1, rank
      if (axis == component) then
        expected(axis) = about%components
      else
        n = n + 1
        expected(axis) = merge(extents(axis), points(n), points(n) < 0)
        plan%axes(n) = axis
      end if
    end do
    if (any(extents /= expected(:rank))) then
      call misuse_restart(restart, said // 'the array has the extents ' // listed(extents) // ', expected ' &
                          // listed(expected(:rank)), ierr)
      return
    end if
    if (about%row_order) plan%axes(:n) = plan%axes(n:1:-1)
    if (component > 0) plan%axes(:rank) = [component, plan%axes(:n)]
    plan%straight = all(plan%axes(:rank) == [(axis, axis=1, rank)])
    if (points(1) < 0) plan%count = extents(merge(3 - component, 1, rank == 2))
    plan%variable = trim(variable) // c_null_char
    plan%fits = .true.
  end subroutine fit

  !> Executes the plan, into contiguous memory.
  subroutine run_reading(restart, plan, at, done, ierr)
    type(sidestream_restart), intent(inout) :: restart
    type(reading), intent(in) :: plan
    type(c_ptr), intent(in) :: at
    logical, intent(out) :: done
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    select case (plan%what)
    case (box)
      code = c_restart_read_box(restart_handle(restart), plan%variable, int(plan%level, c_int32_t), plan%lo, plan%hi, &
                                c_null_ptr, c_null_ptr, at)
    case (list)
      code = c_restart_read_list(restart_handle(restart), plan%variable, plan%first, plan%count, at)
    case default
      code = c_restart_read_block(restart_handle(restart), plan%variable, plan%id, at, plan%bytes)
    end select
    done = code == SIDESTREAM_OK
    call settle_restart(restart, code, ierr)
  end subroutine run_reading

  subroutine no_memory(restart, plan, ierr)
    type(sidestream_restart), intent(inout) :: restart
    type(reading), intent(in) :: plan
    integer, intent(out), optional :: ierr
    call settle_restart(restart, int(SIDESTREAM_ERROR_SYSTEM, c_int), ierr, "there is no memory to read '" &
                        // plan%variable(:len(plan%variable) - 1) // "' by way of; read fewer points at once, or give a " &
                        // 'gapless array with the axes as they were published')
  end subroutine no_memory

  pure function text_of_number(number) result(text)
    integer(int64), intent(in) :: number
    character(len=:), allocatable :: text
    character(len=24) :: room
    write (room, '(i0)') number
    text = trim(room)
  end function text_of_number

  pure function listed(numbers) result(text)
    integer(int64), intent(in) :: numbers(:)
    character(len=:), allocatable :: text
    integer :: n
    text = '('
    do n = 1, size(numbers)
      if (n > 1) text = text // ', '
      text = text // text_of_number(numbers(n))
    end do
    text = text // ')'
  end function listed
end module sidestream_restart_plans
