!> Writes a checkpoint, or reads one on any number of ranks. Every value depends on its position.
!>
!> restart write FILE BLOCKS | restart read DIRECTORY BLOCKS | restart mistakes DIRECTORY BLOCKS
program restart_program
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use mpi
  use checks
  use sidestream
  implicit none
  integer, parameter :: nx = 5, ny = 4, nz = 16, steps = 2
  integer :: code, rank, ranks, comm, blocks
  character(len=:), allocatable :: number
  call MPI_Init(code)
  number = argument(3)
  read (number, *) blocks
  comm = MPI_COMM_WORLD
  select case (argument(1))
  case ('write')
    call write_checkpoints()
  case ('read')
    call place(MPI_COMM_WORLD)
    call read_checkpoint()
  case default
    call place(MPI_COMM_WORLD)
    call read_wrongly()
  end select
  call end_checks()
  call MPI_Finalize(code)

contains

  subroutine place(of)
    integer, intent(in) :: of
    comm = of
    call MPI_Comm_rank(comm, rank, code)
    call MPI_Comm_size(comm, ranks, code)
  end subroutine place

  !> The first plane of block `b`.
  pure integer function edge(b)
    integer, intent(in) :: b
    edge = nz * b / blocks
  end function edge

  elemental integer function value(i, j, k, c)
    integer, intent(in) :: i, j, k, c
    value = i + 20 * j + 400 * k + 10000 * c + 7 * (steps - 1)
  end function value

  !> The values of the box lo <= index < hi, by i, j, k and component.
  function values(lo, hi, components) result(all)
    integer, intent(in) :: lo(3), hi(3), components
    integer :: all(hi(1) - lo(1), hi(2) - lo(2), hi(3) - lo(3), components)
    integer :: i, j, k, c
    do c = 1, components
      do k = 1, hi(3) - lo(3)
        do j = 1, hi(2) - lo(2)
          do i = 1, hi(1) - lo(1)
            all(i, j, k, c) = value(lo(1) + i - 1, lo(2) + j - 1, lo(3) + k - 1, c - 1)
          end do
        end do
      end do
    end do
  end function values

  ! ---- writing -------------------------------------------------------------------------------------------------

  subroutine write_checkpoints()
    type(sidestream_session) :: session
    integer :: step, b
    call sidestream_open(MPI_COMM_WORLD, argument(2), session)
    if (sidestream_is_server(session)) then
      call sidestream_serve(session)
    else
      call sidestream_get_comm(session, comm)
      call place(comm)
      call declare(session)
      do step = 0, steps - 1
        do b = rank, blocks - 1, ranks
          call publish(session, b, step - (steps - 1))
        end do
        call sidestream_end_iteration(session, 10 * step, 0.5 * step)
      end do
    end if
    call sidestream_close(session, ierr=code)
    call check_error(session, code, SIDESTREAM_OK, '')
  end subroutine write_checkpoints

  subroutine declare(session)
    type(sidestream_session), intent(inout) :: session
    integer :: b
    call sidestream_add_uniform_mesh(session, 'box', [nx, ny, nz])
    call sidestream_add_uniform_mesh(session, 'plane', [nx, nz])
    call sidestream_add_uniform_mesh(session, 'line', [nz])
    call sidestream_add_variable(session, 'nodes', 'box', SIDESTREAM_FLOAT64, SIDESTREAM_NODE)
    call sidestream_add_variable(session, 'vectors', 'box', SIDESTREAM_FLOAT32, components=3)
    call sidestream_add_variable(session, 'rows', 'box', SIDESTREAM_INT32, components=2, order=SIDESTREAM_ROW)
    call sidestream_add_variable(session, 'longs', 'plane', SIDESTREAM_INT64)
    call sidestream_add_variable(session, 'flat', 'plane', SIDESTREAM_INT16, order=SIDESTREAM_ROW)
    call sidestream_add_variable(session, 'bytes', 'line', SIDESTREAM_UINT8)
    do b = rank, blocks - 1, ranks
      call sidestream_set_block(session, 'box', b, [0, 0, edge(b)], [nx, ny, edge(b + 1)])
      call sidestream_set_block(session, 'plane', b, [0, edge(b)], [nx, edge(b + 1)])
      call sidestream_set_block(session, 'line', b, [edge(b)], [edge(b + 1)])
      call sidestream_set_block_list(session, 'cloud', b, b + 1)
    end do
    call sidestream_start(session)
  end subroutine declare

  subroutine publish(session, b, shift)
    type(sidestream_session), intent(inout) :: session
    integer, intent(in) :: b, shift
    integer, allocatable :: all(:, :, :, :)
    real(real64), allocatable :: nodes(:, :, :), places(:, :)
    integer(int32), allocatable :: rows(:, :, :, :)
    integer(int16), allocatable :: flat(:, :)
    integer(int64), allocatable :: longs(:, :)
    real(real32), allocatable :: vectors(:, :, :, :)
    integer(int8), allocatable :: bytes(:)
    integer :: n
    allocate (all, source=values([0, 0, edge(b)], [nx + 1, ny + 1, edge(b + 1) + 1], 3) + 7 * shift)
    n = edge(b + 1) - edge(b)
    allocate (nodes, source=real(all(:, :, :, 1), real64))
    allocate (vectors, source=real(all(:nx, :ny, :n, :), real32))
    allocate (rows, source=all(:nx, :ny, :n, :2))
    allocate (longs, source=int(all(:nx, 1, :n, 1), int64))
    allocate (flat, source=int(all(:nx, 1, :n, 1), int16))
    allocate (bytes, source=int(mod(all(1, 1, :n, 1), 100), int8))
    call sidestream_publish(session, 'nodes', b, nodes)
    call sidestream_publish(session, 'vectors', b, vectors)
    call sidestream_publish(session, 'rows', b, rows)
    call sidestream_publish(session, 'longs', b, longs)
    call sidestream_publish(session, 'flat', b, flat)
    call sidestream_publish(session, 'bytes', b, bytes)
    allocate (places(3, b + 1))
    do n = 1, b + 1
      places(:, n) = [1000 * b + n, 2, 3]
    end do
    call sidestream_publish(session, 'places', b, places, component_axis=1)
  end subroutine publish

  ! ---- reading -------------------------------------------------------------------------------------------------

  subroutine read_checkpoint()
    type(sidestream_restart) :: restart
    type(sidestream_stored_variable) :: about
    integer(int64) :: cycle, index
    real(real64) :: time
    integer :: b
    call sidestream_restart_open(comm, argument(2), restart, code)
    call check_code(restart, code, SIDESTREAM_OK, '')
    call check(sidestream_restart_remarks(restart) == '', 'nothing was passed over')
    call sidestream_restart_iteration(restart, cycle, time, index)
    call check(cycle == 10 * (steps - 1) .and. index == steps - 1, 'the newest')
    call check(abs(time - 0.5d0 * (steps - 1)) <= 0, 'its time')
    call sidestream_restart_variable(restart, 'vectors', about)
    call check(about%mesh == 'box' .and. about%type == SIDESTREAM_FLOAT32 .and. about%components == 3, 'vectors')
    call check(all(about%hi == [nx, ny, nz]) .and. .not. about%row_order .and. .not. about%is_list, 'their points')
    do b = rank, blocks - 1, ranks
      call read_boxes(restart, edge(b), edge(b + 1))
      call read_flat(restart, edge(b), edge(b + 1))
    end do
    call read_lists(restart)
    call read_blocks(restart)
    call sidestream_restart_limit_levels(restart, 0, code)
    call check_code(restart, code, SIDESTREAM_OK, '')
    call read_blocks(restart)  ! all blocks are on level 0
    call sidestream_restart_limit_levels(restart, -1)
    call check(names(restart) == 7, 'variables')
    call sidestream_restart_close(restart, code)
    call check_code(restart, code, SIDESTREAM_OK, '')
  end subroutine read_checkpoint

  integer function names(restart)
    type(sidestream_restart), intent(in) :: restart
    names = 0
    do while (sidestream_restart_variable_name(restart, names + 1) /= '')
      names = names + 1
    end do
  end function names

  subroutine read_boxes(restart, k0, k1)
    type(sidestream_restart), intent(inout) :: restart
    integer, intent(in) :: k0, k1
    real(real64), allocatable :: nodes(:, :, :)
    real(real32), allocatable :: last(:, :, :, :), first(:, :, :, :)
    integer(int32), allocatable :: rows(:, :, :, :)
    integer, allocatable :: all_of(:, :, :, :)
    integer :: c
    ! The array has ghosts on all sides, which are not read, and is backwards along j.
    allocate (nodes(0:nx + 2, 0:ny + 2, 0:k1 - k0 + 2), source=-1.0d0)
    call sidestream_restart_read_box(restart, 'nodes', [0, 0, k0], [nx + 1, ny + 1, k1 + 1], &
                                     nodes(1:nx + 1, ny + 1:1:-1, 1:k1 - k0 + 1))
    allocate (all_of, source=values([0, 0, k0], [nx + 1, ny + 1, k1 + 1], 3))
    call check(all(nint(nodes(1:nx + 1, ny + 1:1:-1, 1:k1 - k0 + 1)) == all_of(:, :, :, 1)), 'nodes')
    call check(all(nint(nodes(0, :, :)) == -1) .and. all(nint(nodes(:, ny + 2, :)) == -1), 'ghosts are not touched')
    allocate (last(nx, ny, k1 - k0, 3), first(3, nx, ny, k1 - k0), rows(nx, ny, k1 - k0, 2))
    call sidestream_restart_read_box(restart, 'vectors', int([0, 0, k0], int64), int([nx, ny, k1], int64), last, level=0)
    call sidestream_restart_read_box(restart, 'vectors', [0, 0, k0], [nx, ny, k1], first, component_axis=1)
    call sidestream_restart_read_box(restart, 'rows', [0, 0, k0], [nx, ny, k1], rows)
    do c = 1, 3
      call check(all(nint(last(:, :, :, c)) == all_of(:nx, :ny, :k1 - k0, c)), 'components last')
      call check(all(nint(first(c, :, :, :)) == all_of(:nx, :ny, :k1 - k0, c)), 'components first')
      if (c < 3) call check(all(rows(:, :, :, c) == all_of(:nx, :ny, :k1 - k0, c)), 'rows')
    end do
  end subroutine read_boxes

  subroutine read_flat(restart, k0, k1)
    type(sidestream_restart), intent(inout) :: restart
    integer, intent(in) :: k0, k1
    integer(int64), allocatable :: longs(:, :)
    integer(int16), allocatable :: flat(:, :)
    integer(int8), allocatable :: bytes(:)
    integer :: all_of(nx, 1, k1 - k0, 1)
    all_of = values([0, 0, k0], [nx, 1, k1], 1)
    allocate (longs(nx, k1 - k0), flat(nx, k1 - k0), bytes(k1 - k0))
    call sidestream_restart_read_box(restart, 'longs', [0, k0], [nx, k1], longs)
    call sidestream_restart_read_box(restart, 'flat', [0, k0], [nx, k1], flat)
    call sidestream_restart_read_box(restart, 'bytes', [k0], [k1], bytes)
    call check(all(longs == all_of(:, 1, :, 1)), 'longs')
    call check(all(flat == all_of(:, 1, :, 1)), 'flat')
    call check(all(bytes == mod(all_of(1, 1, :, 1), 100)), 'bytes')
    ! A rank without a block asks for an empty box.
    call sidestream_restart_read_box(restart, 'longs', [0, k0], [nx, k0], longs(:, :0), ierr=code)
    call check_code(restart, code, SIDESTREAM_OK, '')
  end subroutine read_flat

  !> Reads a share of the list of all blocks, with components first and last.
  subroutine read_lists(restart)
    type(sidestream_restart), intent(inout) :: restart
    type(sidestream_stored_variable) :: about
    real(real64), allocatable :: places(:, :), turned(:, :)
    integer :: first, past, at, b, n
    call sidestream_restart_variable(restart, 'places', about)
    call check(about%is_list .and. about%length == blocks * (blocks + 1) / 2, 'the length of the list')
    first = int(about%length * rank / ranks)
    past = int(about%length * (rank + 1) / ranks)
    allocate (places(3, past - first), turned(past - first, 3))
    call sidestream_restart_read_list(restart, 'places', first, places, component_axis=1)
    call sidestream_restart_read_list(restart, 'places', int(first, int64), turned)
    at = 0
    do b = 0, blocks - 1
      do n = 1, b + 1
        if (at >= first .and. at < past) then
          call check(all(nint(places(:, at - first + 1)) == [1000 * b + n, 2, 3]), 'places')
          call check(all(nint(turned(at - first + 1, :)) == [1000 * b + n, 2, 3]), 'places, turned')
        end if
        at = at + 1
      end do
    end do
  end subroutine read_lists

  subroutine read_blocks(restart)
    type(sidestream_restart), intent(inout) :: restart
    type(sidestream_stored_block) :: block
    integer(int32), allocatable :: rows(:, :, :, :)
    integer(int64), allocatable :: longs(:, :)
    real(real64), allocatable :: places(:, :)
    integer, allocatable :: all_of(:, :, :, :)
    integer :: count, n
    call sidestream_restart_block_count(restart, 'box', count)
    call check(count == blocks, 'blocks')
    do n = 1 + rank, count, ranks
      call sidestream_restart_block(restart, 'box', n, block)
      call check(block%id == n - 1 .and. all(block%lo == [0, 0, edge(n - 1)]) .and. block%hi(3) == edge(n), 'the block')
      allocate (rows(nx, ny, edge(n) - edge(n - 1), 2), longs(nx, edge(n) - edge(n - 1)), places(3, n))
      allocate (all_of, source=values([0, 0, edge(n - 1)], [nx, ny, edge(n)], 2))
      call sidestream_restart_read_block(restart, 'rows', block%id, rows)
      call sidestream_restart_read_block(restart, 'longs', n - 1, longs)
      call sidestream_restart_read_block(restart, 'places', n - 1, places, component_axis=1)
      call check(all(rows == all_of), 'rows of a block')
      call check(all(longs == all_of(:, 1, :, 1)), 'longs of a block')
      call check(all(nint(places(1, :)) >= 1000 * (n - 1) + 1), 'places of a block')
      deallocate (rows, longs, places, all_of)
    end do
  end subroutine read_blocks

  ! ---- mistakes ------------------------------------------------------------------------------------------------

  subroutine check_code(restart, found, expected, part)
    type(sidestream_restart), intent(in) :: restart
    integer, intent(in) :: found, expected
    character(len=*), intent(in) :: part
    if (found == expected .and. index(sidestream_restart_message(restart), part) > 0) return
    failures = failures + 1
    write (error_unit, '(a,i0,a,i0,4a)') 'expected ', expected, ', got ', found, ': "', part, '" in ', &
      sidestream_restart_message(restart)
  end subroutine check_code

  subroutine read_wrongly()
    type(sidestream_restart) :: restart
    integer(int64) :: cycle
    call sidestream_restart_open(comm, 'nowhere', restart, code)
    call check_code(restart, code, SIDESTREAM_ERROR_FILE, "nowhere' is no database")
    call sidestream_restart_iteration(restart, cycle, ierr=code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, 'the restart is NULL')
    call sidestream_restart_open(comm, argument(2), 77, restart, code)
    call check_code(restart, code, SIDESTREAM_ERROR_FILE, 'cycle 77')
    call sidestream_restart_open(comm, argument(2), 0, restart, code)
    call check_code(restart, code, SIDESTREAM_OK, '')
    call sidestream_restart_iteration(restart, cycle)
    call check(cycle == 0, 'the cycle that was asked for')
    call read_what_does_not_fit(restart)
    ! An error that nobody asks for is told by the next call that can, and by close.
    call sidestream_restart_block_count(restart, 'no mesh', cycle)
    call sidestream_restart_block_count(restart, 'box', cycle, code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, "no mesh 'no mesh'")
    call sidestream_restart_block_count(restart, 'kept', cycle)
    call sidestream_restart_close(restart)
    call sidestream_restart_close(restart, code)
    call check_code(restart, code, SIDESTREAM_OK, '')
  end subroutine read_wrongly

  subroutine read_what_does_not_fit(restart)
    type(sidestream_restart), intent(inout) :: restart
    type(sidestream_stored_block) :: block
    integer(int64) :: longs(nx, nz)
    real(real64) :: reals(nx, nz), places(3, 1), list(1)
    integer(int32) :: ints(nx, ny, nz)
    call sidestream_restart_read_box(restart, 'long', [0, 0], [nx, nz], longs, ierr=code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, "no variable 'long'")
    call sidestream_restart_read_box(restart, 'longs', [0, 0], [nx, nz], reals, ierr=code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, 'the array is of float64, and the checkpoint has int64')
    call sidestream_restart_read_box(restart, 'longs', [0, 0, 0], [nx, nz], longs, ierr=code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, 'lo has 3 entries and hi 2')
    call sidestream_restart_read_box(restart, 'longs', [0, 0], [nx, nz - 1], longs, ierr=code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, 'the extents (5, 16), expected (5, 15)')
    call sidestream_restart_read_box(restart, 'rows', [0, 0, 0], [nx, ny, nz], ints, ierr=code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, 'has rank 3, expected 3 axes of the mesh and one of components')
    call sidestream_restart_read_box(restart, 'longs', [1, 0], [nx + 1, nz], longs, ierr=code)
    call check_code(restart, code, SIDESTREAM_ERROR_FILE, 'are in no block')
    call sidestream_restart_read_box(restart, 'places', [0], [1], places, ierr=code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, 'it is a list')
    call sidestream_restart_read_list(restart, 'longs', 0, list, ierr=code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, 'the array is of float64')
    call sidestream_restart_read_list(restart, 'nodes', 0, list, ierr=code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, 'it is no list')
    call sidestream_restart_read_list(restart, 'places', blocks * (blocks + 1) / 2, places, 1, code)
    call check_code(restart, code, SIDESTREAM_ERROR_FILE, 'were asked for')
    call sidestream_restart_read_block(restart, 'places', blocks, places, 1, code)
    call check_code(restart, code, SIDESTREAM_ERROR_FILE, 'no values of')
    call sidestream_restart_read_block(restart, 'longs', blocks, longs, ierr=code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, 'has no block')
    call sidestream_restart_block(restart, 'box', 0, block, code)
    call check_code(restart, code, SIDESTREAM_ERROR_USAGE, 'number -1')
    call check(block%id == -1, 'no block')
  end subroutine read_what_does_not_fit
end program restart_program
