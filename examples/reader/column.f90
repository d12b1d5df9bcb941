!> Column density, as column.c, in Fortran.
module column_map
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use sidestream
  implicit none

  type :: task
    type(sidestream_stored_mesh) :: mesh
    type(sidestream_stored_variable) :: variable
    integer :: level = 0
    integer(int64) :: lo(3) = 0, hi(3) = 0 ! this rank's box of cells of that level: all of x and z, some rows
  end type task

contains

  !> Cells of level `to` along one of level `from`, which is no finer.
  function ratio(mesh, axis, from, to) result(product)
    type(sidestream_stored_mesh), intent(in) :: mesh
    integer, intent(in) :: axis, from, to
    integer(int64) :: product
    integer :: level
    product = 1
    do level = from, to - 1
      if (mesh%kind /= SIDESTREAM_MESH_OCTREE) then
        product = product * mesh%ratios(axis, level + 1)
      else if (axis <= mesh%dimensions) then
        product = product * 2
      end if
    end do
  end function ratio

  !> Adds a cell to the pixels that it covers, or to the one in which it lies.
  subroutine add(own, level, index, value, map)
    type(task), intent(in) :: own
    integer, intent(in) :: level
    integer(int64), intent(in) :: index(3)
    real(real64), intent(in) :: value
    real(real64), intent(inout) :: map(own%lo(1):, own%lo(2):)
    integer(int64) :: first(2), past(2), i, j
    real(real64) :: weight
    integer :: a
    weight = own%mesh%spacing(3) / real(ratio(own%mesh, 3, 0, level), real64)
    do a = 1, 2
      if (level > own%level) then
        weight = weight / real(ratio(own%mesh, a, own%level, level), real64)
        first(a) = index(a) / ratio(own%mesh, a, own%level, level)
        past(a) = first(a) + 1
      else
        first(a) = index(a) * ratio(own%mesh, a, level, own%level)
        past(a) = first(a) + ratio(own%mesh, a, level, own%level)
      end if
      first(a) = max(first(a), own%lo(a))
      past(a) = min(past(a), own%hi(a))
    end do
    do j = first(2), past(2) - 1
      do i = first(1), past(1) - 1
        map(i, j) = map(i, j) + value * weight
      end do
    end do
  end subroutine add

  !> Finds the mesh of the variable, and this rank's rows.
  subroutine prepare(context, name, rank, ranks, own, code)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: name
    integer, intent(in) :: rank, ranks
    type(task), intent(inout) :: own
    integer, intent(out) :: code
    integer(int64) :: rows, begin
    integer :: a
    call sidestream_context_variable(context, name, own%variable, code)
    if (code == SIDESTREAM_OK) call sidestream_context_mesh(context, own%variable%mesh, own%mesh, code)
    if (code /= SIDESTREAM_OK) return
    if (own%mesh%kind == SIDESTREAM_MESH_UNIFORM) own%level = min(own%level, size(own%mesh%ratios, 2))
    do a = 1, 3
      own%lo(a) = own%mesh%lo(a) * ratio(own%mesh, a, 0, own%level)
      own%hi(a) = own%mesh%hi(a) * ratio(own%mesh, a, 0, own%level)
    end do
    rows = own%hi(2) - own%lo(2)
    begin = own%lo(2)
    own%lo(2) = begin + rows * rank / ranks
    own%hi(2) = begin + rows * (rank + 1) / ranks
  end subroutine prepare

  !> Reads the leaves of this rank's box and adds them up.
  subroutine make_map(context, name, own, map, count, code)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: name
    type(task), intent(in) :: own
    real(real64), intent(inout) :: map(:, :)
    integer(int64), intent(out) :: count
    integer, intent(out) :: code
    type(sidestream_cells) :: cells
    real(real64), allocatable :: values(:, :)
    integer(int64) :: n
    count = 0
    call sidestream_context_list_cells(context, own%variable%mesh, own%level, own%lo, own%hi, cells, ierr=code)
    if (code /= SIDESTREAM_OK) return
    allocate (values(own%variable%components, cells%count)) ! the first component counts
    call sidestream_cells_read(context, cells, name, values, component_axis=1, ierr=code)
    if (code == SIDESTREAM_OK) then
      count = cells%count
      do n = 1, count
        call add(own, int(cells%level(n)), cells%index(:, n), values(1, n), map)
      end do
    end if
    call sidestream_cells_free(cells)
  end subroutine make_map
end module column_map

program column
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi
  use column_map
  implicit none
  type(sidestream_reader) :: reader
  type(sidestream_context) :: context
  type(task) :: own
  real(real64), allocatable :: map(:, :)
  character(len=1024) :: argument(4)
  integer :: rank, ranks, code, worst, n, file, status(MPI_STATUS_SIZE)
  integer(int64) :: counts(2), sums(2), first, mine
  integer(MPI_OFFSET_KIND) :: place
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  do n = 1, 4
    call get_command_argument(n, argument(n)) ! DIRECTORY VARIABLE LEVEL FILE
  end do
  read (argument(3), *) own%level
  call sidestream_reader_open(MPI_COMM_WORLD, argument(1), reader, code)
  if (code == SIDESTREAM_OK) call sidestream_context_open(reader, sidestream_reader_context_count(reader), context, code)
  if (code /= SIDESTREAM_OK) then ! the same on all ranks
    if (rank == 0) write (error_unit, '(2a)') 'column: ', sidestream_reader_message(reader)
    call MPI_Finalize(n)
    stop 1
  end if
  call prepare(context, argument(2), rank, ranks, own, code)
  counts = 0
  if (code == SIDESTREAM_OK) then
    allocate (map(own%lo(1):own%hi(1) - 1, own%lo(2):own%hi(2) - 1))
    map = 0
    call make_map(context, argument(2), own, map, counts(1), code)
  end if
  if (code /= SIDESTREAM_OK) write (error_unit, '(2a)') 'column: ', sidestream_context_message(context)
  call MPI_Allreduce(code, worst, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, n)
  if (worst == SIDESTREAM_OK) then
    counts(2) = sidestream_context_bytes_read(context)
    call MPI_Reduce(counts, sums, 2, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, n)
    first = 0
    mine = size(map, kind=int64)
    call MPI_Exscan(mine, first, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, n)
    place = first * 8
    call MPI_File_open(MPI_COMM_WORLD, trim(argument(4)), MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file, n)
    call MPI_File_write_at_all(file, place, map, int(mine), MPI_DOUBLE_PRECISION, status, n)
    call MPI_File_close(file, n)
    if (rank == 0) print '(a, i0, a, i0)', 'cells=', sums(1), ' bytes=', sums(2)
  end if
  call sidestream_context_close(context)
  call sidestream_reader_close(reader)
  call MPI_Finalize(n)
  if (worst /= SIDESTREAM_OK) stop 1
end program column
