!> The three numbers of a cell that leave the program: both parts of psi, and the density |psi|^2.
module bec_fields
  use bec_blocks, only: blocks
  use bec_lattice_gas, only: condensate, wave_function
  use mpi
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: compute, write_fields

contains

  !> `fields`: re, im, density by its last index. It keeps its memory from call to call.
  subroutine compute(c, fields)
    type(condensate), intent(in) :: c
    real(real64), allocatable, intent(inout) :: fields(:, :, :, :)
    integer :: n(3)
    n = c%block%own
    if (.not. allocated(fields)) allocate (fields(n(1), n(2), n(3), 3))
    call wave_function(c, fields(:, :, :, 1:2))
    fields(:, :, :, 3) = fields(:, :, :, 1)**2 + fields(:, :, :, 2)**2
  end subroutine compute

  !> Collective: writes the arrays of the whole box one after the other, x fastest. `ok` is the same on every rank.
  subroutine write_fields(file, b, fields, ok)
    character(len=*), intent(in) :: file
    type(blocks), intent(in) :: b
    real(real64), intent(in) :: fields(:, :, :, :)
    logical, intent(out) :: ok
    integer(kind=MPI_OFFSET_KIND), parameter :: start = 0
    integer :: handle, shape_in_file, code, failed
    call MPI_File_open(b%comm, file, MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, handle, code)
    failed = merge(0, 1, code == MPI_SUCCESS)
    call MPI_Allreduce(MPI_IN_PLACE, failed, 1, MPI_INTEGER, MPI_MAX, b%comm, code)
    ok = failed == 0
    if (.not. ok) return
    call MPI_Type_create_subarray(4, [b%n, 3], [b%own, 3], [b%lo, 0], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, &
                                  shape_in_file, code)
    call MPI_Type_commit(shape_in_file, code)
    call MPI_File_set_size(handle, start, code)
    call MPI_File_set_view(handle, start, MPI_DOUBLE_PRECISION, shape_in_file, 'native', MPI_INFO_NULL, code)
    call MPI_File_write_all(handle, fields, size(fields), MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, code)
    failed = merge(0, 1, code == MPI_SUCCESS)
    call MPI_Allreduce(MPI_IN_PLACE, failed, 1, MPI_INTEGER, MPI_MAX, b%comm, code)
    ok = failed == 0
    call MPI_File_close(handle, code)
    call MPI_Type_free(shape_in_file, code)
  end subroutine write_fields
end module bec_fields
