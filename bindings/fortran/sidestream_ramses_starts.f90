!> Starts RAMSES from a database that it has published, on any number of ranks.
!>
!> RAMSES builds its tree level by level, as from initial conditions. In each level it asks for the cells that are
!> refined, and for their values. Cells of a level are found by bisection along the Morton curve.
module sidestream_ramses_starts
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use sidestream
  use sidestream_ramses_base, only: axes_name
  implicit none
  private

  integer, parameter :: deepest = 60

  !> The cells of one level, with density, velocity, pressure and scalars as columns of `values`.
  type :: level_cells
    logical :: is_there = .false.
    type(sidestream_cells) :: cells
    real(real64), allocatable :: values(:, :)
  end type level_cells

  !> A context of a database from which RAMSES starts. Must not be copied.
  type, public :: sidestream_ramses_start
    logical :: is_open = .false.
    character(len=500) :: message = '' !< the sentence of the first error of this rank; blank without
    integer(int64) :: cycle = 0
    real(real64) :: time = 0
    type(sidestream_context), private :: context
    type(level_cells), private :: levels(0:deepest + 1)
  end type sidestream_ramses_start

  public :: sidestream_ramses_start_from, sidestream_ramses_flag, sidestream_ramses_fill, sidestream_ramses_end_start

contains

  !> Opens the context of that cycle that was written last, or the last of all. Collective. On failure is_open is false
  !> on every rank.
  subroutine sidestream_ramses_start_from(directory, comm, start, cycle)
    character(len=*), intent(in) :: directory
    integer, intent(in) :: comm
    type(sidestream_ramses_start), intent(inout) :: start
    integer, intent(in), optional :: cycle
    type(sidestream_reader) :: reader
    integer :: code, n
    call sidestream_reader_open(comm, directory, reader, code)
    if (code == SIDESTREAM_OK) then
      n = sidestream_reader_context_count(reader)
      if (present(cycle)) call sidestream_reader_find_cycle(reader, cycle, n, code)
    end if
    if (code == SIDESTREAM_OK) call sidestream_context_open(reader, n, start%context, code)
    start%is_open = code == SIDESTREAM_OK
    if (start%is_open) then
      call sidestream_context_iteration(start%context, start%cycle, start%time)
    else
      start%message = sidestream_reader_message(reader)
    end if
    call sidestream_reader_close(reader, code)
  end subroutine sidestream_ramses_start_from

  !> Frees what was read. `is_open` is false from then on.
  subroutine sidestream_ramses_end_start(start)
    type(sidestream_ramses_start), intent(inout) :: start
    integer :: level, code
    do level = 0, deepest + 1
      if (start%levels(level)%is_there) call sidestream_cells_free(start%levels(level)%cells)
      if (allocated(start%levels(level)%values)) deallocate (start%levels(level)%values)
    end do
    call sidestream_context_close(start%context, code)
    start%is_open = .false.
  end subroutine sidestream_ramses_end_start

  !> Flags the cells of these octs of a level that were refined. `lower`: the first coarse cells inside the boundary.
  subroutine sidestream_ramses_flag(start, level, octs, xg, lower, ncoarse, flag1)
    type(sidestream_ramses_start), intent(inout) :: start
    integer, intent(in) :: level, octs(:), lower(3), ncoarse
    real(real64), intent(in) :: xg(:, :)
    integer, intent(inout) :: flag1(:)
    integer :: n, child
    if (level >= deepest) return
    call load(start, level + 1)
    do n = 1, size(octs)
      do child = 0, 2**size(xg, 2) - 1
        if (find(start%levels(level + 1), 2 * index_of(xg(octs(n), :), level, lower, child)) == 0) cycle
        flag1(ncoarse + child * size(xg, 1) + octs(n)) = 1
      end do
    end do
  end subroutine sidestream_ramses_flag

  !> Sets the conserved variables of a gas in the cells of these octs, like RAMSES when it reads its own files. Cells
  !> that the database does not have stay as they are.
  subroutine sidestream_ramses_fill(start, level, octs, xg, lower, ncoarse, uold, gamma, smallr, imetal)
    type(sidestream_ramses_start), intent(inout) :: start
    integer, intent(in) :: level, octs(:), lower(3), ncoarse
    real(real64), intent(in) :: xg(:, :), gamma, smallr
    real(real64), intent(inout) :: uold(:, :)
    integer, intent(in), optional :: imetal
    integer :: n, child, place
    if (level > deepest) return
    call load(start, level)
    call load_values(start, level, size(xg, 2), size(uold, 2), imetal)
    do n = 1, size(octs)
      do child = 0, 2**size(xg, 2) - 1
        place = find(start%levels(level), index_of(xg(octs(n), :), level, lower, child))
        if (place == 0) cycle
        uold(ncoarse + child * size(xg, 1) + octs(n), :) = &
          conserved(start%levels(level)%values(place, :), size(xg, 2), gamma, smallr)
      end do
    end do
  end subroutine sidestream_ramses_fill

  pure function conserved(q, axes, gamma, smallr) result(u)
    real(real64), intent(in) :: q(:), gamma, smallr
    integer, intent(in) :: axes
    real(real64) :: u(size(q))
    integer :: n
    u = q * max(q(1), smallr)
    u(1) = q(1)
    u(axes + 2) = q(axes + 2) / (gamma - 1)
    do n = 2, axes + 1
      u(axes + 2) = u(axes + 2) + 0.5_real64 * u(n)**2 / max(u(1), smallr)
    end do
    if (.not. u(1) > 0) u(axes + 2) = 0
  end function conserved

  !> The index of a child of an oct in the cells of its level inside the boundary.
  pure function index_of(middle, level, lower, child) result(index)
    real(real64), intent(in) :: middle(:)
    integer, intent(in) :: level, lower(3), child
    integer(int64) :: index(3)
    integer :: axes, n
    axes = size(middle)
    index = 0
    index(:axes) = 2 * int((middle - lower(:axes)) * 2.0_real64**(level - 1), int64) + [(ibits(child, n, 1), n=0, axes - 1)]
  end function index_of

  !> Lists all cells of a level.
  subroutine load(start, level)
    type(sidestream_ramses_start), intent(inout) :: start
    integer, intent(in) :: level
    integer :: code
    if (start%levels(level)%is_there) return
    start%levels(level)%is_there = .true.
    call sidestream_context_list_cells(start%context, 'tree', start%levels(level)%cells, level, level, .true., code)
    call keep_message(start, code)
  end subroutine load

  subroutine load_values(start, level, axes, columns, imetal)
    type(sidestream_ramses_start), intent(inout) :: start
    integer, intent(in) :: level, axes, columns
    integer, intent(in), optional :: imetal
    real(real64), allocatable :: values(:, :)
    character(len=32) :: name
    integer :: n, code
    if (allocated(start%levels(level)%values)) return
    allocate (values(start%levels(level)%cells%count, columns), source=0.0_real64)
    do n = 1, columns
      if ((n > 2 .and. n < axes + 2) .or. size(values) == 0) cycle
      write (name, '(a, i0.2)') 'scalar_', n - axes - 3
      if (n == 1) name = 'density'
      if (n == 2) name = axes_name('velocity', axes)
      if (n == axes + 2) name = 'pressure'
      if (present(imetal)) name = merge('metallicity'//repeat(' ', 21), name, n == imetal)
      if (n == 2 .and. axes > 1) then
        call sidestream_cells_read(start%context, start%levels(level)%cells, name, values(:, 2:1 + axes), ierr=code)
      else
        call sidestream_cells_read(start%context, start%levels(level)%cells, name, values(:, n), ierr=code)
      end if
      call keep_message(start, code)
    end do
    call move_alloc(values, start%levels(level)%values)
  end subroutine load_values

  subroutine keep_message(start, code)
    type(sidestream_ramses_start), intent(inout) :: start
    integer, intent(in) :: code
    if (code /= SIDESTREAM_OK .and. start%message == '') start%message = sidestream_context_message(start%context)
  end subroutine keep_message

  !> The place of a cell in its level; 0: it is not there.
  pure integer function find(of, index) result(place)
    type(level_cells), intent(in) :: of
    integer(int64), intent(in) :: index(3)
    integer(int64) :: low, high, middle
    place = 0
    low = 1
    high = of%cells%count
    do while (low <= high)
      middle = (low + high) / 2
      if (all(of%cells%index(:, middle) == index)) then
        place = int(middle)
        return
      else if (is_before(of%cells%index(:, middle), index)) then
        low = middle + 1
      else
        high = middle - 1
      end if
    end do
  end function find

  !> True if `a` comes before `b` along the Morton curve: the axis with the highest bit that differs decides; of equal
  !> ones the last.
  pure logical function is_before(a, b)
    integer(int64), intent(in) :: a(3), b(3)
    integer :: axis
    axis = 4 - minloc(leadz(ieor(a(3:1:-1), b(3:1:-1))), 1)
    is_before = a(axis) < b(axis)
  end function is_before
end module sidestream_ramses_starts
