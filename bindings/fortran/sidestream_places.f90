!> Arrays by addresses, extents and strides, for the generated modules.
module sidestream_places
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use sidestream_base
  use sidestream_c
  use sidestream_functions, only: get_block
  implicit none
  private
  public :: place, publish_any, flat_any, components_any, alloc_any, values_any

  !> The target of a pointer: every `whole(0)`-th element, from the first on, of a contiguous array of the extents
  !> `whole`; from that `extents` elements along each axis, with the lower bounds `lower`. Fortran can give a pointer
  !> strides in no other way.
  type :: place
    type(c_ptr) :: data = c_null_ptr
    integer(int64) :: whole(0:4) = 1, extents(4) = 1, lower(4) = 1
  end type place

contains

  pure integer(int64) function address(of)
    type(c_ptr), intent(in) :: of
    address = int(transfer(of, 0_c_intptr_t), int64)
  end function address

  !> Strides in elements of so many bytes; zero if there is no element. `ok` is true if distances are multiples of
  !> the size.
  function strides_of(at, bytes, ok) result(strides)
    type(c_ptr), intent(in) :: at(0:)
    integer, intent(in) :: bytes
    logical, intent(out) :: ok
    integer(int64) :: strides(size(at) - 1)
    integer :: n
    strides = 0
    ok = .true.
    if (.not. c_associated(at(0))) return
    do n = 1, size(strides)
      strides(n) = address(at(n)) - address(at(0))
    end do
    ok = all(modulo(strides, int(bytes, int64)) == 0)
    strides = strides / bytes
  end function strides_of

  !> Publishes at(:, n) as component n; `same` says that the arrays have the same extents.
  subroutine components_any(session, variable, block, type, bytes, at, extents, same, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: variable
    integer(int64), intent(in) :: block
    integer, intent(in) :: type, bytes
    type(c_ptr), intent(in) :: at(0:, :)
    integer(int64), intent(in) :: extents(:)
    logical, intent(in) :: same
    integer, intent(out), optional :: ierr
    integer(int64) :: strides(size(extents), size(at, 2))
    logical :: alike, ok
    integer :: n
    alike = same
    do n = 1, size(at, 2)
      strides(:, n) = strides_of(at(:, n), bytes, ok)
      alike = alike .and. ok .and. all(strides(:, n) == strides(:, 1) .or. extents == 1)
    end do
    if (.not. alike) then
      call refuse(session, variable, block)
      call misuse(session, "publish_components: the arrays for '" // trim(variable) // "' differ in shape, or in how " &
                  // 'far apart their elements are; pass arrays or sections that are alike', ierr)
      return
    end if
    call settle(session, c_publish_component_arrays(handle_of(session), trim(variable) // c_null_char, block, &
                                                    int(type, c_int), int(size(at, 2), c_int), at(0, :), &
                                                    int(size(extents), c_int), extents, strides(:, 1)), ierr)
  end subroutine components_any

  !> Publishes an array: at(0) is its first element, at(n) the next one along axis n if there is one.
  subroutine publish_any(session, variable, block, type, bytes, at, extents, component_axis, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: variable
    integer(int64), intent(in) :: block
    integer, intent(in) :: type, bytes
    type(c_ptr), intent(in) :: at(0:)
    integer(int64), intent(in) :: extents(:)
    integer, intent(in), optional :: component_axis
    integer, intent(out), optional :: ierr
    integer(int64) :: strides(size(extents))
    integer :: components
    logical :: ok
    components = -1
    if (present(component_axis)) components = component_axis - 1
    if (present(component_axis) .and. components < 0) components = size(extents) + 1 ! which is refused
    strides = strides_of(at, bytes, ok)
    if (.not. ok) then
      call refuse(session, variable, block)
      call misuse(session, "publish: the elements of the array for '" // trim(variable) // "' are not a multiple of " &
                  // 'their size apart; copy them into an array of their own', ierr)
      return
    end if
    call settle(session, c_publish_array(handle_of(session), trim(variable) // c_null_char, block, int(type, c_int), &
                                         at(0), int(size(extents), c_int), extents, strides, int(components, c_int)), &
                ierr)
  end subroutine publish_any

  !> Publishes all elements in memory order, as many as the block has values, whatever the rank.
  subroutine flat_any(session, variable, block, type, bytes, at, extents, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: variable
    integer(int64), intent(in) :: block
    integer, intent(in) :: type, bytes
    type(c_ptr), intent(in) :: at(0:)
    integer(int64), intent(in) :: extents(:)
    integer, intent(out), optional :: ierr
    integer(int64) :: strides(size(extents)), next
    logical :: ok
    integer :: n
    strides = strides_of(at, bytes, ok)
    next = 1
    do n = 1, size(extents)
      ok = ok .and. (extents(n) < 2 .or. strides(n) == next)
      next = next * extents(n)
    end do
    if (.not. ok .and. next > 0) then
      call refuse(session, variable, block)
      call misuse(session, "publish_values: the array for '" // trim(variable) // "' has gaps between its elements; pass " &
                  // 'a whole array, or a section of the rank of the mesh to sidestream_publish', ierr)
      return
    end if
    call settle(session, c_publish_values(handle_of(session), trim(variable) // c_null_char, block, int(type, c_int), &
                                          at(0), next), ierr)
  end subroutine flat_any

  !> Makes a publication that fails, so that an error found here refuses the iteration like one found in C.
  subroutine refuse(session, variable, block)
    type(sidestream_session), intent(in) :: session
    character(len=*), intent(in) :: variable
    integer(int64), intent(in) :: block
    integer(c_int) :: failed
    failed = c_publish(handle_of(session), trim(variable) // c_null_char, block, c_null_ptr)
  end subroutine refuse

  !> Allocates memory for a pointer of that rank; no data if there is none.
  subroutine alloc_any(session, variable, block, type, rank, found, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: variable
    integer(int64), intent(in) :: block
    integer, intent(in) :: type, rank
    type(place), intent(out) :: found
    integer, intent(out), optional :: ierr
    type(c_block) :: array
    integer(c_int) :: code, cleared
    array%struct_size = c_sizeof(array)
    array%data = c_null_ptr
    code = c_alloc_array(handle_of(session), trim(variable) // c_null_char, block, int(type, c_int), &
                         int(rank, c_int), array)
    if (code == SIDESTREAM_OK) then
      found = place_of(array%data, array%lo, array%hi, array%strides, int(array%components), &
                       bytes_of(type), rank, 0)
      if (.not. c_associated(found%data)) then
        cleared = c_clear(handle_of(session), trim(variable) // c_null_char, block)
        call refuse(session, variable, block)
        call misuse(session, "alloc: the arrays of '" // trim(variable) // "' are in row order, to which a Fortran " &
                    // 'pointer cannot point; declare the order column, or publish', ierr)
        return
      end if
    end if
    call settle(session, code, ierr)
  end subroutine alloc_any

  !> The place of a block's values, for a pointer of that rank and type; no data if that is not possible.
  subroutine values_any(input, variable, n, type, rank, component, block, found, ierr)
    type(sidestream_input), intent(in) :: input
    character(len=*), intent(in) :: variable
    integer(int64), intent(in) :: n
    integer, intent(in) :: type, rank
    integer, intent(in), optional :: component
    type(sidestream_block), intent(out) :: block
    type(place), intent(out) :: found
    integer, intent(out), optional :: ierr
    integer :: one, code
    call get_block(input, variable, n, block, code)
    if (code /= SIDESTREAM_OK) then ! repeated for the sentence
      call get_block(input, variable, n, block, ierr)
      return
    end if
    if (present(ierr)) ierr = SIDESTREAM_OK
    if (.not. same_type(block%type, type)) then
      call input_failed(input, "the values of '" // trim(variable) // "' are of another type than the pointer for " &
                        // 'them; declare the variable or the pointer as the other one is', ierr)
      return
    end if
    one = 0
    if (present(component)) one = component
    if (present(component) .and. (one < 1 .or. one > block%components)) then
      call input_failed(input, "'" // trim(variable) // "' has no such component; they are counted from 1", ierr)
      return
    end if
    found = place_of(block%data, block%lo, block%hi, block%strides, block%components, bytes_of(type), &
                     rank, one)
    if (c_associated(found%data) .or. any(block%hi <= block%lo)) return
    call input_failed(input, "a pointer of this rank cannot point to the values of '" // trim(variable) // "'; give " &
                      // 'it an axis for each of the mesh and before these one for the components if there are ' &
                      // 'several, and declare the order column', ierr)
  end subroutine values_any

  !> Fortran has no unsigned integers: only the bits count.
  pure logical function same_type(a, b)
    integer, intent(in) :: a, b
    same_type = a == b
    if (a < SIDESTREAM_FLOAT32 .and. b < SIDESTREAM_FLOAT32) same_type = modulo(a, 4) == modulo(b, 4)
  end function same_type

  !> The place of an array. `component` selects one, or 0 all, which are then the first axis if there are several or if
  !> the rank is that of three axes and components. Without data if there is no such pointer.
  pure function place_of(data, lo, hi, strides, components, bytes, rank, component) &
      result(found)
    type(c_ptr), intent(in) :: data
    integer(int64), intent(in) :: lo(3), hi(3), strides(4)
    integer, intent(in) :: components, bytes, rank, component
    type(place) :: found
    integer(int64) :: step(4)
    integer :: n, first
    logical :: possible
    first = 0
    step = 1
    if (component == 0 .and. (components > 1 .or. rank == 4)) then
      first = 1
      found%extents(1) = components
      step(1) = strides(4)
    end if
    do n = 1, 3
      if (first + n > rank) then
        if (hi(n) - lo(n) /= 1) return
      else
        found%extents(first + n) = max(0_int64, hi(n) - lo(n))
        found%lower(first + n) = lo(n)
        step(first + n) = strides(n)
      end if
    end do
    if (first + 3 < rank .or. any(hi <= lo)) return
    call nest(found%extents(:rank), step(:rank), found%whole(0:rank), possible)
    if (.not. possible) return
    found%data = data
    if (component > 1) then
      found%data = transfer(int(address(data) + (component - 1) * strides(4) * bytes, c_intptr_t), c_null_ptr)
    end if
  end function place_of

  !> The extents of a contiguous array of which elements with these strides are a section, if there is one.
  pure subroutine nest(extents, strides, whole, possible)
    integer(int64), intent(in) :: extents(:), strides(:)
    integer(int64), intent(inout) :: whole(0:)
    logical, intent(out) :: possible
    integer(int64) :: step(4)
    integer :: n, rank, last
    rank = size(extents)
    ! Axes of one element may have any stride: they get one that nests.
    last = 0
    do n = 1, rank
      if (extents(n) > 1) last = n
    end do
    step = 1
    if (last > 0) step(last) = strides(last)
    do n = last + 1, rank
      if (n > 1) step(n) = step(n - 1) * extents(n - 1)
    end do
    do n = last - 1, 1, -1
      step(n) = merge(strides(n), step(n + 1), extents(n) > 1)
    end do
    possible = all(step > 0)
    do n = 1, rank - 1
      if (possible) possible = modulo(step(n + 1), step(n)) == 0 .and. step(n + 1) / step(n) >= extents(n)
      if (possible) whole(n) = step(n + 1) / step(n)
    end do
    whole(0) = step(1)
    whole(rank) = extents(rank)
  end subroutine nest

  pure integer function bytes_of(type)
    integer, intent(in) :: type
    bytes_of = 2**modulo(type, 4)
    if (type == SIDESTREAM_FLOAT32) bytes_of = 4
    if (type == SIDESTREAM_FLOAT64) bytes_of = 8
  end function bytes_of
end module sidestream_places
