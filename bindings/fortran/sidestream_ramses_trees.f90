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
    integer :: level, n, oct, above, most, axes
    axes = size(xg, 2)
    most = size(octs)
    kept = 0
    bounds = 0
    bounds(:axes) = huge(bounds)
    bounds(4:3 + axes) = -huge(bounds)
    do level = 1, size(head)
      oct = head(level)
      do n = 1, count(level)
        octs(oct) = ior(octs(oct), of_list)
        if (any(son(ncoarse + oct:ncoarse + (2**axes - 1) * most + oct:most) == 0)) then
          bounds(:axes) = min(bounds(:axes), xg(oct, :) - 0.5_real64**level)
          bounds(4:3 + axes) = max(bounds(4:3 + axes), xg(oct, :) + 0.5_real64**level)
          above = oct
          do while (iand(octs(above), marked) == 0)
            octs(above) = ior(octs(above), marked)
            kept = kept + 1
            if (father(above) > ncoarse) above = modulo(father(above) - ncoarse - 1, most) + 1
          end do
        end if
        oct = next(oct)
      end do
    end do
  end subroutine mark

  !> Lists the cells of the marked octs below the root cells, and their flags.
  subroutine walk(run, myid, coarse, lower, upper, son, cpu_map, octs, kept, refined, owned)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, intent(in) :: myid, coarse(3), lower(3), upper(3), son(:), cpu_map(:), kept
    integer(int8), intent(in) :: octs(:)
    integer(int8), allocatable, intent(out) :: refined(:), owned(:)
    integer :: cells, first, last, n, c, oct, i, j, k
    integer :: children(2**run%dimensions)
    cells = run%roots + kept * 2**run%dimensions
    allocate (refined(cells), owned(cells), source=0_int8)
    if (allocated(run%cells)) deallocate (run%cells)
    allocate (run%cells(cells))
    run%cells(:run%roots) = [(((1 + i + coarse(1) * (j + coarse(2) * k), i=lower(1), upper(1)), &
                               j=lower(2), upper(2)), k=lower(3), upper(3))]
    if (allocated(run%children)) deallocate (run%children)
    allocate (run%children(2**run%dimensions, run%roots), source=0)
    where (cpu_map(run%cells(:run%roots)) == myid) owned(:run%roots) = 1
    n = 0
    last = run%roots
    do while (n < last)
      first = n + 1
      n = last
      do c = first, n
        oct = son(run%cells(c))
        if (oct == 0) cycle
        children = [(product(coarse) + i * size(octs) + oct, i=0, size(children) - 1)]
        if (c <= run%roots) run%children(:, c) = children
        if (iand(octs(oct), marked) == 0) then
          owned(c) = 0 ! others own what is below
          cycle
        end if
        refined(c) = 1
        run%cells(last + 1:last + size(children)) = children
        if (iand(octs(oct), of_list) /= 0) owned(last + 1:last + size(children)) = 1
        last = last + size(children)
      end do
    end do
  end subroutine walk
end module sidestream_ramses_trees
