!> The tree of RAMSES as a block of an octree.
!>
!> The tree that is published:
!> 1. Mark the octs of this rank's lists that contain leaves, and all octs above them. All others are left out: other
!>    ranks publish what is below them.
!> 2. Walk down from the coarse cells inside the boundary, level by level. A cell whose oct is marked is refined, and
!>    its children are cells of the next level.
!> 3. Keep the place of each cell in RAMSES' arrays. Each variable is gathered by this list, straight into the buffer.
module sidestream_ramses_trees
  use, intrinsic :: iso_fortran_env, only: int8, real64
  use sidestream
  use sidestream_ramses_base
  implicit none
  private

  integer(int8), parameter :: of_list = 1_int8, marked = 2_int8 ! states of octs
  public :: sidestream_ramses_tree

contains

  !> The tree; the first call of each pass. `coarse`: nx, ny, nz; `lower`, `upper`: the coarse cells inside the boundary,
  !> icoarse_min to kcoarse_max, from 0; `head`, `count`: headl(myid, :) and numbl(myid, :). `units`: length, time and
  !> density in cgs units, if they never change. Axes without boundary cells are periodic.
  subroutine sidestream_ramses_tree(run, myid, coarse, lower, upper, boxlen, head, count, next, father, son, cpu_map, &
                                    xg, units)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, intent(in) :: myid, coarse(3), lower(3), upper(3), head(:), count(:), next(:), father(:), son(:), cpu_map(:)
    real(real64), intent(in) :: boxlen, xg(:, :)
    real(real64), intent(in), optional :: units(3)
    integer(int8), allocatable :: octs(:), refined(:), owned(:)
    real(real64) :: bounds(6), spacing
    integer :: kept
    run%dimensions = size(xg, 2)
    run%roots = product(upper - lower + 1)
    run%block = myid - 1
    if (present(units)) run%units = units
    spacing = boxlen / (upper(1) - lower(1) + 1)
    if (run%stage == declaring) then
      call declare_tree(run, upper - lower + 1, lower == 0 .and. upper == coarse - 1, spacing)
      return
    end if
    allocate (octs(size(father)), source=0_int8)
    call mark(product(coarse), head, count, next, father, son, xg, octs, kept, bounds)
    run%has_leaves = bounds(1) <= bounds(4)
    if (.not. run%has_leaves) then
      call sidestream_set_block_list(run%session, 'tree', run%block, 0)
      return
    end if
    bounds = (bounds - [lower, lower]) * spacing
    bounds(run%dimensions + 1:3) = 0
    bounds(run%dimensions + 4:6) = 0
    call walk(run, myid, coarse, lower, upper, son, cpu_map, octs, kept, refined, owned)
    call sidestream_set_block_list(run%session, 'tree', run%block, size(run%cells), bounds=bounds)
    call sidestream_publish(run%session, 'refined', run%block, refined)
    call sidestream_publish(run%session, 'owned', run%block, owned)
  end subroutine sidestream_ramses_tree

  subroutine declare_tree(run, roots, is_periodic, spacing)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, intent(in) :: roots(3)
    logical, intent(in) :: is_periodic(3)
    real(real64), intent(in) :: spacing
    call sidestream_add_octree_mesh(run%session, 'tree', roots(:run%dimensions), 'refined', &
                                    spacing=spread(spacing, 1, run%dimensions))
    call sidestream_add_variable(run%session, 'refined', 'tree', SIDESTREAM_UINT8)
    call sidestream_add_variable(run%session, 'owned', 'tree', SIDESTREAM_UINT8)
    call sidestream_set_mesh_array(run%session, 'tree', SIDESTREAM_OWNED, 'owned')
    if (any(is_periodic(:run%dimensions))) then
      call sidestream_set_periodic(run%session, 'tree', is_periodic(:run%dimensions))
    end if
  end subroutine declare_tree

  !> Marks octs with leaves of this rank and the octs above them: `kept` octs. `bounds` contain the leaves, in coarse
  !> cells; the lower one is above the upper one if there are none.
  subroutine mark(ncoarse, head, count, next, father, son, xg, octs, kept, bounds)
    integer, intent(in) :: ncoarse, head(:), count(:), next(:), father(:), son(:)
    real(real64), intent(in) :: xg(:, :)
    integer(int8), intent(inout) :: octs(:)
    integer, intent(out) :: kept
    real(real64), intent(out) :: bounds(6)
    integer, allocatable :: now(:), above(:)
    integer :: level, n, oct, marks, most, first, last
    most = size(octs)
    first = ncoarse
    last = ncoarse + (2**size(xg, 2) - 1) * most
    kept = 0
    bounds(:3) = huge(bounds)
    bounds(4:) = -huge(bounds)
    allocate (above(0))
    do level = size(head), 1, -1
      now = [above, [(0, n=1, count(level))]]
      marks = size(above)
      oct = head(level)
      do n = 1, count(level)
        octs(oct) = ior(octs(oct), of_list)
        if (any(son(first + oct:last + oct:most) == 0)) then
          if (octs(oct) == of_list) then
            marks = marks + 1
            now(marks) = oct
          end if
          octs(oct) = ior(octs(oct), marked)
          call widen(xg(oct, :), 0.5_real64**level, bounds)
        end if
        oct = next(oct)
      end do
      kept = kept + marks
      call mark_above(ncoarse, now(:marks), father, octs, above)
    end do
  end subroutine mark

  subroutine mark_above(ncoarse, now, father, octs, above)
    integer, intent(in) :: ncoarse, now(:), father(:)
    integer(int8), intent(inout) :: octs(:)
    integer, allocatable, intent(out) :: above(:)
    integer, allocatable :: found(:)
    integer :: n, oct, marks
    allocate (found(size(now)))
    marks = 0
    do n = 1, size(now)
      if (father(now(n)) <= ncoarse) cycle
      oct = modulo(father(now(n)) - ncoarse - 1, size(octs)) + 1
      if (iand(octs(oct), marked) /= 0) cycle
      octs(oct) = ior(octs(oct), marked)
      marks = marks + 1
      found(marks) = oct
    end do
    above = found(:marks)
  end subroutine mark_above

  pure subroutine widen(middle, half, bounds)
    real(real64), intent(in) :: middle(:), half
    real(real64), intent(inout) :: bounds(6)
    integer :: axis
    do axis = 1, 3
      if (axis > size(middle)) then
        bounds(axis) = 0
        bounds(3 + axis) = 0
      else
        bounds(axis) = min(bounds(axis), middle(axis) - half)
        bounds(3 + axis) = max(bounds(3 + axis), middle(axis) + half)
      end if
    end do
  end subroutine widen

  !> Lists the cells of the marked octs below the root cells, and their flags.
  subroutine walk(run, myid, coarse, lower, upper, son, cpu_map, octs, kept, refined, owned)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, intent(in) :: myid, coarse(3), lower(3), upper(3), son(:), cpu_map(:), kept
    integer(int8), intent(in) :: octs(:)
    integer(int8), allocatable, intent(out) :: refined(:), owned(:)
    integer :: cells, first, last, n, c, oct, child
    cells = run%roots + kept * 2**run%dimensions
    allocate (refined(cells), owned(cells), source=0_int8)
    if (allocated(run%cells)) deallocate (run%cells)
    allocate (run%cells(cells))
    call list_roots(run, coarse, lower, upper, son, size(octs))
    where (cpu_map(run%cells(:run%roots)) == myid) owned(:run%roots) = 1
    n = 0
    last = run%roots
    do while (n < last)
      first = n + 1
      n = last
      do c = first, n
        oct = son(run%cells(c))
        if (oct == 0) cycle
        if (iand(octs(oct), marked) == 0) then
          owned(c) = 0 ! others own what is below
          cycle
        end if
        refined(c) = 1
        do child = 1, 2**run%dimensions
          run%cells(last + child) = product(coarse) + (child - 1) * size(octs) + oct
        end do
        if (iand(octs(oct), of_list) /= 0) owned(last + 1:last + 2**run%dimensions) = 1
        last = last + 2**run%dimensions
      end do
    end do
  end subroutine walk

  subroutine list_roots(run, coarse, lower, upper, son, most)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, intent(in) :: coarse(3), lower(3), upper(3), son(:), most
    integer :: i, j, k, n, cell, child
    if (allocated(run%children)) deallocate (run%children)
    allocate (run%children(2**run%dimensions, run%roots), source=0)
    n = 0
    do k = lower(3), upper(3)
      do j = lower(2), upper(2)
        do i = lower(1), upper(1)
          cell = 1 + i + coarse(1) * (j + coarse(2) * k)
          n = n + 1
          run%cells(n) = cell
          if (son(cell) == 0) cycle
          run%children(:, n) = [(product(coarse) + (child - 1) * most + son(cell), child=1, 2**run%dimensions)]
        end do
      end do
    end do
  end subroutine list_roots
end module sidestream_ramses_trees
