!> Publishes a field on spectral elements; see tests/support/spectral.py.
!>
!> spectral FILE
program spectral
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi
  use checks
  use sidestream
  implicit none
  integer, parameter :: order = 3, n = order + 1, elements = 12
  type(sidestream_session) :: session
  integer :: code, comm, rank, ranks, e, count
  integer :: numbers(elements)
  real(real64), dimension(n, n, n, elements) :: x, y, z, u
  call MPI_Init(code)
  call sidestream_open(MPI_COMM_WORLD, argument(1), session)
  if (sidestream_is_server(session)) then
    call sidestream_serve(session)
  else
    call sidestream_get_comm(session, comm)
    call MPI_Comm_rank(comm, rank, code)
    call MPI_Comm_size(comm, ranks, code)
    count = 0
    do e = 0, elements - 1
      if (modulo(7 * e, merge(ranks - 1, ranks, ranks > 3)) /= rank) cycle
      count = count + 1
      numbers(count) = e
      call place(e, x(:, :, :, count), y(:, :, :, count), z(:, :, :, count))
    end do
    u = x + y**2 + 0.3_real64 * z * x
    call sidestream_add_spectral_mesh(session, 'elements', 3)
    call sidestream_set_spectral_block(session, 'elements', rank, order, count, x, y, ierr=code)
    call check_error(session, code, merge(SIDESTREAM_ERROR_USAGE, SIDESTREAM_OK, count > 0), &
                     merge('along 2 axes', '            ', count > 0))
    call sidestream_set_spectral_block(session, 'elements', rank, order, count, x, y, z, numbers(:count))
    call sidestream_start(session)
    call sidestream_publish_values(session, 'u', rank, u(:, :, :, :count))
    call sidestream_end_iteration(session, 0, 0.0_real64)
  end if
  call sidestream_close(session, ierr=code)
  call check_error(session, code, SIDESTREAM_OK, '')
  call end_checks()
  call MPI_Finalize(code)

contains

  subroutine place(element, px, py, pz)
    integer, intent(in) :: element
    real(real64), intent(out), dimension(n, n, n) :: px, py, pz
    real(real64), parameter :: inner = 0.44721359549995793_real64
    real(real64), parameter :: gll(n) = [-1.0_real64, -inner, inner, 1.0_real64]
    real(real64) :: at(3)
    integer :: i, j, k
    do k = 1, n
      do j = 1, n
        do i = 1, n
          at = [modulo(element, 3), modulo(element / 3, 2), element / 6] + 0.5_real64 * ([gll(i), gll(j), gll(k)] + 1)
          px(i, j, k) = at(1) + 0.1_real64 * at(2) * at(3)
          py(i, j, k) = at(2) + 0.05_real64 * at(1)
          pz(i, j, k) = at(3) + 0.02_real64 * at(1)**2
        end do
      end do
    end do
  end subroutine place
end program spectral
