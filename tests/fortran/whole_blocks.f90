!> Calls that describe or publish a whole block at once: its part of a rectilinear mesh, components in separate arrays,
!> several variables.
module seen
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use checks
  use sidestream
  implicit none
  integer, save :: looked = 0

contains

  elemental real(real64) function value(i, j, k)
    integer, intent(in) :: i, j, k
    value = real(i + 10 * j + 100 * k, real64)
  end function value

  !> Looks at values; the k-planes of rank r are 2 r and 2 r + 1.
  subroutine look(input, partial, message, status)
    type(sidestream_input), intent(in) :: input
    real(real64), intent(inout) :: partial(:)
    character(len=*), intent(inout) :: message
    integer, intent(inout) :: status
    real(real64), pointer :: t(:, :, :), u(:, :, :)
    real(real32), pointer :: v(:, :, :, :)
    type(sidestream_block) :: block
    integer :: n, i, j, k
    do n = 1, int(sidestream_input_blocks(input, 't'))
      call sidestream_get_values(input, 't', n, t, block=block)
      call sidestream_get_values(input, 'u', n, u)
      call sidestream_get_values(input, 'v', n, v)
      do k = int(block%lo(3)), int(block%hi(3)) - 1
        do j = 0, 2
          do i = 0, 3
            call check(abs(t(i, j, k) - value(i, j, k)) < 1e-9_real64, 't')
            call check(abs(u(i, j, k) + value(i, j, k)) < 1e-9_real64, 'u')
            call check(abs(v(1, i, j, k) - 1000) < 1e-3_real32, 'v x')
            call check(abs(v(2, i, j, k) - value(i, j, k)) < 1e-3_real32, 'v y')
            call check(abs(v(3, i, j, k) + value(i, j, k)) < 1e-3_real32, 'v z')
          end do
        end do
      end do
      looked = looked + 1
    end do
    partial = 0
    status = 0
    message = ''
  end subroutine look
end module seen

program whole_blocks
  use mpi
  use seen
  implicit none
  character(len=*), parameter :: line = new_line('a')
  character(len=:), allocatable :: text
  character(len=8) :: number
  type(sidestream_session) :: session
  integer :: code, rank, ranks, i, j, k
  real(real64) :: t(4, 3, 2), u(4, 3, 2)
  real(real32) :: v(4, 3, 2, 3), wide(8, 3, 2, 2), x(5), y(4), z(3)
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  write (number, '(i0)') ranks
  text = 'placement: inline' // line // 'output: {directory: whole-blocks-' // trim(number) // &
    ', existing: replace, timings: false}' // line // &
    'variables: {t: {mesh: m}, u: {mesh: m}, v: {mesh: m, type: float32, components: 3}}' // line // &
    'analyses: [look: {variables: [t, u, v]}]'
  call sidestream_open_text(MPI_COMM_WORLD, text, session)
  call sidestream_register_function(session, 'look', 1, look)
  x = [(real(i * i), i=0, 4)]
  y = [(real(j), j=0, 3)]
  z = [(0.1 * (2 * rank + k), k=0, 2)]
  call sidestream_set_rectilinear_block(session, 'm', rank, [0, 0, 2 * rank], [4, 3, 2 * rank + 2], x, y, ierr=code)
  call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'not one more than cells')
  call sidestream_set_rectilinear_block(session, 'm', rank, [0, 0, 2 * rank], [4, 3, 2 * rank + 2], x, y, z)
  call sidestream_start(session, code)
  call check_error(session, code, SIDESTREAM_OK, '')
  do k = 1, 2
    do j = 1, 3
      do i = 1, 4
        t(i, j, k) = value(i - 1, j - 1, k - 1 + 2 * rank)
      end do
    end do
  end do
  u = -t
  v(:, :, :, 1) = 1000
  v(:, :, :, 2) = real(t)
  v(:, :, :, 3) = -real(t)

  call sidestream_publish_block(session, rank, 't', t, 'u', u, ierr=code)
  call check(code == SIDESTREAM_OK, 'publish_block')
  call sidestream_publish_components(session, 'v', rank, v(:, :, :, 1), v(:, :, :, 2), v(:, :, :, 3), ierr=code)
  call check(code == SIDESTREAM_OK, 'publish_components')
  call sidestream_end_iteration(session, 0, 0d0, code)
  call check(code == SIDESTREAM_OK .and. looked == 1, 'the first iteration')

  ! Publishes sections, without asking for a code.
  wide = -1
  wide(::2, :, :, 1) = v(:, :, :, 2)
  wide(::2, :, :, 2) = v(:, :, :, 3)
  v(:, :, :, 1) = 1000
  call sidestream_publish_block(session, int(rank, 8), 't', t, 'u', u)
  call sidestream_publish_components(session, 'v', int(rank, 8), v(:, :, :, 1), wide(::2, :, :, 1), wide(::2, :, :, 2), &
                                     ierr=code)
  call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'differ in shape, or in how far apart')
  call sidestream_end_iteration(session, 1, 1d0, code)
  call check(code == SIDESTREAM_REFUSED .and. looked == 1, 'arrays that are not alike')

  call sidestream_publish_components(session, 'v', rank, v(:, :, :, 1), v(:, :, :, 2), ierr=code)
  call check_error(session, code, SIDESTREAM_ERROR_USAGE, "2 arrays for 'v', expected 3")
  call sidestream_publish_block(session, rank, 'no', t, 't', t, ierr=code)
  call check(code == SIDESTREAM_ERROR_USAGE, 'the first code')
  call sidestream_end_iteration(session, 2, 2d0, code)
  call check(code == SIDESTREAM_REFUSED, 'what failed refuses')
  call sidestream_close(session)
  call end_checks()
  call MPI_Finalize(code)
end program whole_blocks
