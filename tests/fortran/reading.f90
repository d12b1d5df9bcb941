!> Reads what restart.f90 has written with the calls of databases, without MPI_Init. Values are those of restart.f90.
!>
!> reading DIRECTORY BLOCKS
program reading_program
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use checks
  use sidestream
  implicit none
  integer, parameter :: nx = 5, ny = 4, nz = 16, steps = 2
  type(sidestream_reader) :: reader
  type(sidestream_context) :: context
  integer :: code, blocks, step
  character(len=:), allocatable :: number
  number = argument(2)
  read (number, *) blocks
  call sidestream_reader_open(argument(1), reader, code)
  call check(code == SIDESTREAM_OK, 'open: ' // sidestream_reader_message(reader))
  call check(sidestream_reader_context_count(reader) == steps, 'contexts')
  call check(sidestream_reader_remarks(reader) == '', 'nothing is broken')
  do step = 1, steps
    call check_listed(step)
  end do
  call sidestream_context_open(reader, steps, context, code)
  call check(code == SIDESTREAM_OK, 'open_context: ' // sidestream_reader_message(reader))
  call sidestream_reader_close(reader) ! the context stays
  call check_description()
  call check_boxes()
  call check_blocks()
  call check_cells()
  call check_mistakes()
  call sidestream_context_close(context, code)
  call check(code == SIDESTREAM_OK, 'close')
  call sidestream_reader_open(argument(1) // '/nowhere', reader, code)
  call check(code == SIDESTREAM_ERROR_FILE .and. index(sidestream_reader_message(reader), 'is no database') > 0, 'nowhere')
  call end_checks()

contains

  pure integer function edge(b)
    integer, intent(in) :: b
    edge = nz * b / blocks
  end function edge

  elemental integer function value(i, j, k, c)
    integer, intent(in) :: i, j, k, c
    value = i + 20 * j + 400 * k + 10000 * c + 7 * (steps - 1)
  end function value

  subroutine check_listed(n)
    integer, intent(in) :: n
    type(sidestream_stored_context) :: listed
    integer :: found
    call sidestream_reader_context(reader, n, listed, code)
    call check(code == SIDESTREAM_OK .and. listed%is_checkpoint .and. listed%run == 1, 'listed')
    call check(listed%cycle == 10 * (n - 1) .and. listed%index == n - 1, 'cycle of a context')
    call check(listed%bytes == listed%stored_bytes .and. listed%blocks == 4 * blocks, 'its sizes')
    call sidestream_reader_find_cycle(reader, 10 * (n - 1), found)
    call check(found == n, 'find_cycle')
  end subroutine check_listed

  subroutine check_description()
    type(sidestream_stored_variable) :: about
    type(sidestream_stored_mesh) :: mesh
    integer(int64) :: cycle, index
    real(real64) :: time
    integer :: n
    call sidestream_context_iteration(context, cycle, time, index)
    call check(cycle == 10 * (steps - 1) .and. index == steps - 1, 'iteration')
    call check(abs(time - 0.5d0 * (steps - 1)) <= 0, 'its time')
    call check(len(sidestream_context_provenance(context)) > 0, 'provenance')
    n = 0
    do while (sidestream_context_variable_name(context, n + 1) /= '')
      n = n + 1
    end do
    call check(n == 7, 'variables')
    call sidestream_context_variable(context, 'vectors', about)
    call check(about%mesh == 'box' .and. about%type == SIDESTREAM_FLOAT32 .and. about%components == 3, 'vectors')
    call check(all(about%hi == [nx, ny, nz]) .and. about%unit == '' .and. about%codec == '', 'more of them')
    call sidestream_context_mesh(context, 'box', mesh)
    call check(mesh%kind == SIDESTREAM_MESH_UNIFORM .and. mesh%dimensions == 3 .and. mesh%levels == 1, 'box')
    call check(all(mesh%hi == [nx, ny, nz]) .and. size(mesh%ratios, 2) == 0 .and. .not. mesh%is_list, 'its cells')
    call sidestream_context_mesh(context, 'cloud', mesh)
    call check(mesh%kind == SIDESTREAM_MESH_POINTS .and. mesh%arrays(SIDESTREAM_COORDINATES) == 'places', 'cloud')
  end subroutine check_description

  subroutine check_boxes()
    real(real64) :: nodes(2:nx + 1, ny, 3)
    integer(int32) :: rows(nx, ny, 2, 2)
    integer(int8) :: bytes(nz)
    integer :: i, j, k
    ! Planes of two blocks, without the first nodes along x and the last ones along y; backwards along k.
    call sidestream_context_read_box(context, 'nodes', [1, 0, nz / 2 - 1], [nx + 1, ny, nz / 2 + 2], nodes(:, :, 3:1:-1))
    call check(all(nint(nodes) == reshape([(((value(i, j, k, 0), i=1, nx), j=0, ny - 1), k=nz / 2 + 1, nz / 2 - 1, -1)], &
                                          shape(nodes))), 'nodes')
    call sidestream_context_read_box(context, 'rows', int([0, 0, 3], int64), int([nx, ny, 5], int64), rows)
    call check(all(rows(:, 2, 2, 2) == [(value(i, 1, 4, 1), i=0, nx - 1)]), 'rows')
    call sidestream_context_read_box(context, 'bytes', [0], [nz], bytes)
    call check(all(bytes == [(mod(value(0, 0, k, 0), 100), k=0, nz - 1)]), 'bytes')
  end subroutine check_boxes

  subroutine check_blocks()
    type(sidestream_stored_block) :: block
    integer(int64) :: count, length
    real(real64), allocatable :: places(:, :)
    real(real32), allocatable :: vectors(:, :, :, :)
    integer :: n, m
    call sidestream_context_block_count(context, 'box', count)
    call check(count == blocks, 'blocks')
    do n = 1, blocks
      call sidestream_context_block(context, 'box', n, block)
      call check(block%id == n - 1 .and. block%level == 0 .and. all(block%ratio == 1), 'block')
      call check(block%lo(3) == edge(n - 1) .and. block%hi(3) == edge(n), 'its cells')
      call check(block%has_bounds .and. nint(block%high(3)) == edge(n), 'its bounds')
      allocate (vectors(nx, ny, edge(n) - edge(n - 1), 3))
      call sidestream_context_block_length(context, 'vectors', n, length)
      call check(length == size(vectors), 'its length')
      call sidestream_context_read_block(context, 'vectors', n, vectors)
      if (size(vectors) > 0) call check(nint(vectors(2, 3, 1, 3)) == value(1, 2, edge(n - 1), 2), 'vectors of a block')
      deallocate (vectors)
      allocate (places(3, n))
      call sidestream_context_read_block(context, 'places', n, places, component_axis=1)
      call check(all(nint(places(1, :)) == [(1000 * (n - 1) + m, m=1, n)]), 'places of a block')
      deallocate (places)
    end do
    call sidestream_context_list_length(context, 'places', count)
    call check(count == blocks * (blocks + 1) / 2, 'all places')
    allocate (places(count, 3))
    call sidestream_context_read_list(context, 'places', 0, places)
    call check(all(nint(places(:, 2)) == 2) .and. nint(places(count, 1)) == 1000 * (blocks - 1) + blocks, 'a list')
  end subroutine check_blocks

  subroutine check_cells()
    type(sidestream_cells) :: cells
    real(real32), allocatable :: vectors(:, :)
    integer(int64) :: missing, n
    call sidestream_context_list_cells(context, 'box', 0, [1, 1, 3], [3, 2, 6], cells)
    call check(cells%count == 6 .and. all(cells%level == 0) .and. all(cells%refined == 0), 'cells of a box')
    allocate (vectors(cells%count, 3))
    call sidestream_cells_read(context, cells, 'vectors', vectors, missing=missing)
    call check(missing == 0, 'none is missing')
    do n = 1, cells%count
      call check(nint(vectors(n, 2)) == value(int(cells%index(1, n)), int(cells%index(2, n)), int(cells%index(3, n)), 1), &
                 'value in a cell')
    end do
    call sidestream_cells_free(cells)
    call check(cells%count == 0 .and. .not. associated(cells%level), 'freed')
    call sidestream_context_list_cells(context, 'box', 0, [9, 9, 9], [9, 9, 9], cells, ierr=code)
    call check(code == SIDESTREAM_OK .and. cells%count == 0 .and. size(cells%owner) == 0, 'no cells')
    call sidestream_cells_free(cells)
    call sidestream_context_list_cells(context, 'box', cells)
    call check(cells%count == nx * ny * nz, 'all cells')
    call sidestream_cells_free(cells)
  end subroutine check_cells

  subroutine check_mistakes()
    real(real64) :: wrong(2, 2, 2)
    type(sidestream_stored_tree) :: tree
    call sidestream_context_read_box(context, 'vectors', [0, 0, 0], [2, 2, 2], wrong, ierr=code)
    call expect('the array is of float64, and the context has float32')
    call sidestream_context_read_box(context, 'nodes', [0, 0, 0], [3, 2, 2], wrong, ierr=code)
    call expect('the array has the extents (2, 2, 2), expected (3, 2, 2)')
    call sidestream_context_tree(context, 'box', 1, tree, code)
    call expect('is no octree')
    call check(size(tree%starts) == 0 .and. size(tree%refined) == 0, 'no tree')
    call sidestream_context_read_box(context, 'nothing', [0, 0, 0], [2, 2, 2], wrong) ! is kept
    call sidestream_context_limit_levels(context, -1, code)
    call expect("the context has no variable 'nothing'")
  end subroutine check_mistakes

  subroutine expect(part)
    character(len=*), intent(in) :: part
    call check(code == SIDESTREAM_ERROR_USAGE .and. index(sidestream_context_message(context), part) > 0, &
               part // ' in ' // sidestream_context_message(context))
  end subroutine expect
end program reading_program
