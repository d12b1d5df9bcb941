!> Publishes arrays of every kind that programs have: with ghosts, sections, negative strides, pointers, components
!> first or last, in place. Every value depends on its position; test_fields.py knows the formula.
!>
!> fields FILE
program fields
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use mpi
  use checks
  use sidestream
  implicit none
  integer, parameter :: nx = 7, ny = 8, nz = 6, steps = 2
  type :: cell
    integer(int16) :: tag
    integer(int16) :: value
    real(real64) :: other
  end type cell
  type(sidestream_session) :: session
  type(sidestream_account) :: account
  integer :: code, comm, rank, ranks, step
  call MPI_Init(code)
  call sidestream_open(MPI_COMM_WORLD, argument(1), session, code)
  if (code /= SIDESTREAM_OK) then
    write (error_unit, '(a)') sidestream_message(session)
    error stop 1
  end if
  if (sidestream_is_server(session)) then
    call sidestream_serve(session, code)
    call check(code == SIDESTREAM_OK, 'serve')
    call sidestream_close(session, ierr=code)
  else
    call sidestream_get_comm(session, comm)
    call MPI_Comm_rank(comm, rank, code)
    call MPI_Comm_size(comm, ranks, code)
    call declare()
    do step = 0, steps - 1
      call publish_box(nz * rank / ranks, nz * (rank + 1) / ranks)
      call publish_components(nz * rank / ranks, nz * (rank + 1) / ranks)
      call publish_plane(ny * rank / ranks, ny * (rank + 1) / ranks)
      call publish_line(nx * rank / ranks, nx * (rank + 1) / ranks)
      call publish_points()
      call sidestream_end_iteration(session, step, 0.5 * step)
    end do
    call sidestream_account_so_far(session, account, code)
    call check(code == SIDESTREAM_OK .and. account%iterations == steps, 'account_so_far')
    call sidestream_close(session, account, code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call check(account%delivered == steps .and. account%absent_blocks == 0, 'delivered')
  end if
  call end_checks()
  call MPI_Finalize(code)

contains

  elemental integer function value(i, j, k, c)
    integer, intent(in) :: i, j, k, c
    value = i + 20 * j + 400 * k + 8000 * c + 10 * step
  end function value

  !> Fills in all values of the box lo <= index < hi, by i, j, k, component.
  subroutine fill(all, lo, hi, components)
    integer, allocatable, intent(out) :: all(:, :, :, :)
    integer, intent(in) :: lo(3), hi(3), components
    integer :: i, j, k, c
    allocate (all(lo(1):hi(1) - 1, lo(2):hi(2) - 1, lo(3):hi(3) - 1, 0:components - 1))
    do c = 0, components - 1
      do k = lo(3), hi(3) - 1
        do j = lo(2), hi(2) - 1
          do i = lo(1), hi(1) - 1
            all(i, j, k, c) = value(i, j, k, c)
          end do
        end do
      end do
    end do
  end subroutine fill

  subroutine declare()
    integer :: lo, hi
    call sidestream_set_int(session, 'nx', nx)
    call sidestream_set_int(session, 'ny', int(ny, int64))
    call sidestream_add_uniform_mesh(session, 'box', [nx, ny, nz], spacing=[0.5_real64, 1.0_real64, 2.0_real64])
    call sidestream_add_variable(session, 'ghosts', 'box', SIDESTREAM_FLOAT64)
    call sidestream_add_variable(session, 'nodes', 'box', SIDESTREAM_FLOAT32, SIDESTREAM_NODE)
    call sidestream_add_variable(session, 'bytes', 'box', SIDESTREAM_INT8)
    call sidestream_add_variable(session, 'shorts', 'box', SIDESTREAM_INT16)
    call sidestream_add_variable(session, 'ints', 'box', SIDESTREAM_INT32)
    call sidestream_add_variable(session, 'longs', 'box', SIDESTREAM_INT64)
    call sidestream_add_variable(session, 'last', 'box', SIDESTREAM_FLOAT64, components=3)
    call sidestream_add_variable(session, 'first', 'box', SIDESTREAM_FLOAT32, components=2)
    call sidestream_add_variable(session, 'rows', 'box', SIDESTREAM_INT32, components=2, order=SIDESTREAM_ROW)
    call sidestream_set_variable_attribute(session, 'ghosts', 'unit', 'K')
    lo = nz * rank / ranks
    hi = nz * (rank + 1) / ranks
    call sidestream_set_block(session, 'box', rank, [0, 0, lo], [nx, ny, hi])
    call sidestream_set_allocated(session, 'ghosts', rank, [-2, -1, lo - 1], [nx + 2, ny + 1, hi + 1])
    call sidestream_set_block(session, 'plane', int(rank, int64), [0, ny * rank / ranks], [nx, ny * (rank + 1) / ranks])
    call sidestream_set_block(session, 'line', rank, int([nx * rank / ranks], int64), &
                              int([nx * (rank + 1) / ranks], int64))
    call sidestream_set_block_list(session, 'cloud', rank, 5)
    call sidestream_start(session, code)
    call check_error(session, code, SIDESTREAM_OK, '')
  end subroutine declare

  subroutine publish_box(lo, hi)
    integer, intent(in) :: lo, hi
    integer, allocatable :: all(:, :, :, :)
    real(real64), allocatable :: ghosts(:, :, :)
    real(real32), allocatable :: nodes(:, :, :)
    integer(int8), allocatable, target :: store(:, :, :)
    integer(int8), pointer :: bytes(:, :, :)
    integer(int64), pointer :: longs(:, :, :)
    type(cell), allocatable :: cells(:, :, :)
    call fill(all, [-2, -1, lo - 1], [nx + 2, ny + 1, hi + 1], 1)
    allocate (ghosts(-2:nx + 1, -1:ny, lo - 1:hi), source=real(all(:, :, :, 0), real64))
    call sidestream_publish(session, 'ghosts', rank, ghosts)

    ! Publishes every other element along i, backwards along j and k.
    call fill(all, [0, 0, lo], [nx + 1, ny + 1, hi + 1], 1)
    allocate (nodes(2 * nx + 2, ny + 3, hi - lo + 1), source=-1.0_real32)
    nodes(2:2 * nx + 2:2, ny + 2:2:-1, hi - lo + 1:1:-1) = real(all(:, :, :, 0), real32)
    call sidestream_publish(session, 'nodes', int(rank, int64), nodes(2:2 * nx + 2:2, ny + 2:2:-1, hi - lo + 1:1:-1))

    ! Publishes a pointer to the inside of an array, backwards along i.
    call fill(all, [0, 0, lo], [nx, ny, hi], 1)
    allocate (store(0:nx + 1, 0:ny + 1, 0:hi - lo + 1), source=-1_int8)
    bytes => store(nx:1:-1, 1:ny, 1:hi - lo)
    bytes = int(modulo(all(:, :, :, 0), 100), int8)
    call sidestream_publish(session, 'bytes', rank, bytes)

    allocate (cells(nx, ny, hi - lo), source=cell(-1_int16, -1_int16, -1.0_real64))
    cells%value = int(all(:, :, :, 0), int16)
    call sidestream_publish(session, 'shorts', rank, cells%value)
    call sidestream_publish(session, 'ints', rank, int(all(:, :, :, 0), int32))

    call sidestream_alloc(session, 'longs', rank, longs, code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call check(all_same(lbound(longs), [0, 0, lo]) .and. all_same(ubound(longs), [nx - 1, ny - 1, hi - 1]), 'bounds')
    longs = int(all(:, :, :, 0), int64)
    call sidestream_commit(session, 'longs', rank)
    call sidestream_clear(session, 'longs', rank)
  end subroutine publish_box

  subroutine publish_components(lo, hi)
    integer, intent(in) :: lo, hi
    integer, allocatable :: all(:, :, :, :)
    real(real64), allocatable :: last(:, :, :, :)
    real(real32), allocatable :: first(:, :, :, :)
    integer :: c
    call fill(all, [0, 0, lo], [nx, ny, hi], 3)
    ! The array has ghosts, the declaration has not; components are backwards.
    allocate (last(-1:nx, -1:ny, -1:hi - lo, 3), source=-1.0_real64)
    last(0:nx - 1, 0:ny - 1, 0:hi - lo - 1, 3:1:-1) = real(all, real64)
    call sidestream_publish(session, 'last', rank, last(0:nx - 1, 0:ny - 1, 0:hi - lo - 1, 3:1:-1))
    allocate (first(5, 0:nx - 1, 0:ny - 1, lo:hi - 1), source=-1.0_real32)
    do c = 0, 1
      first(2 + 2 * c, :, :, :) = real(all(:, :, :, c), real32)
    end do
    call sidestream_publish(session, 'first', rank, first(2:4:2, :, :, :), component_axis=1)
    call sidestream_publish(session, 'rows', rank, all(:, :, :, :1))
  end subroutine publish_components

  subroutine publish_plane(lo, hi)
    integer, intent(in) :: lo, hi
    integer, allocatable :: all(:, :, :, :)
    integer(int16), pointer :: pairs(:, :, :)
    real(real64), allocatable :: nodes(:, :, :)
    call fill(all, [0, lo, 0], [nx + 1, hi + 1, 1], 1)
    ! Publishes a plane of an array with three axes.
    allocate (nodes(3, 0:nx, lo:hi), source=-1.0_real64)
    nodes(2, :, :) = real(all(:, :, 0, 0), real64)
    call sidestream_publish(session, 'corners', rank, nodes(2, :, :))
    call fill(all, [0, lo, 0], [nx, hi, 1], 2)
    call sidestream_alloc(session, 'pairs', rank, pairs)
    call check(all_same(lbound(pairs), [1, 0, lo]) .and. all_same(ubound(pairs), [2, nx - 1, hi - 1]), 'bounds of pairs')
    pairs(1, :, :) = int(all(:, :, 0, 0), int16)
    pairs(2, :, :) = int(all(:, :, 0, 1), int16)
    call sidestream_commit(session, 'pairs', rank)
    call sidestream_clear(session, 'pairs', rank)
  end subroutine publish_plane

  !> Publishes a line, which may have no cells.
  subroutine publish_line(lo, hi)
    integer, intent(in) :: lo, hi
    integer, allocatable :: all(:, :, :, :)
    call fill(all, [lo, 0, 0], [hi, 1, 1], 1)
    call sidestream_publish(session, 'unsigned', rank, int(modulo(all(:, 0, 0, 0), 100), int8))
    call sidestream_publish(session, 'reals', rank, real(all(hi - 1:lo:-1, 0, 0, 0), real32))
  end subroutine publish_line

  subroutine publish_points()
    real(real64) :: places(5, 3)
    integer :: n
    do n = 1, 5
      places(n, :) = real(rank, real64) + [0.1_real64, 0.2_real64, 0.3_real64] * n
    end do
    call sidestream_publish(session, 'places', rank, places)
    call sidestream_publish(session, 'masses', rank, [(real(100 * rank + n + step), n=1, 5)])
  end subroutine publish_points

  logical function all_same(a, b)
    integer, intent(in) :: a(:), b(:)
    all_same = all(a == b)
  end function all_same
end program fields
