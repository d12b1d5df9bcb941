!> Functions of the program as analyses. They are given the values that were published, and their failures are reported.
module sums
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use mpi
  use checks
  use sidestream
  implicit none
  integer, parameter :: nx = 6, ny = 4, nz = 5
  integer, save :: combined = 0

contains

  elemental real(real64) function value(i, j, k)
    integer(int64), intent(in) :: i, j, k
    value = real(i + 10 * j + 100 * k, real64)
  end function value

  !> Counts cells, their sum, and wrong values.
  subroutine local(input, partial, message, status)
    type(sidestream_input), intent(in) :: input
    real(real64), intent(inout) :: partial(:)
    character(len=*), intent(inout) :: message
    integer, intent(inout) :: status
    real(real64), pointer :: t(:, :, :)
    real(real32), pointer :: v(:, :, :, :), second(:, :, :)
    type(sidestream_block) :: block
    integer(int64) :: n, i, j, k
    do n = 1, sidestream_input_blocks(input, 't')
      call sidestream_get_values(input, 't', n, t, block=block)
      call sidestream_get_values(input, 'v', n, v)
      call sidestream_get_values(input, 'v', int(n, int32), second, component=2)
      if (any(lbound(v) /= [1_int64, block%owned_lo]) .or. any(ubound(t) /= block%hi - 1)) then
        status = 1
        message = 'the bounds are not those of the block'
        return
      end if
      do k = block%owned_lo(3), block%owned_hi(3) - 1
        do j = block%owned_lo(2), block%owned_hi(2) - 1
          do i = block%owned_lo(1), block%owned_hi(1) - 1
            partial(1) = partial(1) + 1
            partial(2) = partial(2) + t(i, j, k)
            if (abs(t(i, j, k) - value(i, j, k)) > 0) partial(3) = partial(3) + 1
            if (abs(v(1, i, j, k) - value(i, j, k)) > 0) partial(3) = partial(3) + 1
            if (abs(v(2, i, j, k) + value(i, j, k)) > 0) partial(3) = partial(3) + 1
            if (abs(second(i, j, k) + value(i, j, k)) > 0) partial(3) = partial(3) + 1
          end do
        end do
      end do
    end do
  end subroutine local

  subroutine merge_sums(partial, other, message, status)
    real(real64), intent(inout) :: partial(:)
    real(real64), intent(in) :: other(:)
    character(len=*), intent(inout) :: message
    integer, intent(inout) :: status
    partial = partial + other
    status = 0
    message = ''
  end subroutine merge_sums

  subroutine combine(input, partial, servers, message, status)
    type(sidestream_input), intent(in) :: input
    real(real64), intent(inout) :: partial(:)
    integer, intent(in) :: servers
    character(len=*), intent(inout) :: message
    integer, intent(inout) :: status
    real(real64) :: all(size(partial))
    integer :: code
    call MPI_Allreduce(partial, all, size(partial), MPI_DOUBLE_PRECISION, MPI_SUM, servers, code)
    call check(nint(all(1)) == nx * ny * nz, 'cells')
    call check(nint(all(2)) == nint(sum_of_all()), 'sum')
    call check(nint(all(3)) == 0, 'values')
    call check(sidestream_input_cycle(input) == 10 + sidestream_input_index(input), 'cycle')
    call check(abs(sidestream_input_time(input) - 0.5_real64 * sidestream_input_index(input)) < 1e-12_real64, 'time')
    combined = combined + 1
    if (code /= MPI_SUCCESS) status = 1
    if (status /= 0) message = 'MPI_Allreduce'
  end subroutine combine

  pure real(real64) function sum_of_all()
    integer(int64) :: i, j, k
    sum_of_all = sum([(((value(i, j, k), i=0, nx - 1), j=0, ny - 1), k=0, nz - 1)])
  end function sum_of_all

  !> Asks for values in wrong ways, and once does not check the code.
  subroutine careless(input, partial, message, status)
    type(sidestream_input), intent(in) :: input
    real(real64), intent(inout) :: partial(:)
    character(len=*), intent(inout) :: message
    integer, intent(inout) :: status
    real(real32), pointer :: wrong(:, :, :)
    real(real64), pointer :: flat(:, :)
    integer :: code
    if (sidestream_input_blocks(input, 't') == 0) return
    call sidestream_get_values(input, 't', 1, flat, ierr=code)
    call check(code == SIDESTREAM_ERROR_USAGE .and. size(flat) == 0, 'a pointer of another rank')
    call sidestream_get_values(input, 't', 1, wrong, component=2, ierr=code)
    call check(code == SIDESTREAM_ERROR_USAGE, 'a component that is not there')
    call sidestream_get_values(input, 't', 1, wrong)
    call check(size(wrong) == 0 .and. status == 0 .and. message == '' .and. size(partial) == 0, 'nothing')
  end subroutine careless
end module sums

program functions
  use sums
  implicit none
  character(len=:), allocatable :: text
  type(sidestream_session) :: session
  type(sidestream_account) :: account
  integer :: code, ranks, steps = 0
  call MPI_Init(code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  ! With 4 ranks there are two servers, with 5 a server and two ranks that reduce. Otherwise these ranks serve.
  text = 'placement: inline'
  if (ranks == 4) text = 'placement: {mode: cores, buffer: 32 MiB, per_node: 2}'
  if (ranks == 5) text = 'placement: {mode: nodes, servers: 1, buffer: 32 MiB, forward: partials, per_node: 2}'
  text = text // new_line('a') // 'output: {directory: functions-results, existing: replace, timings: false}' // &
    new_line('a') // 'meshes: {box: {type: uniform, size: [6, 4, 5]}}' // new_line('a') // &
    'variables: {t: {mesh: box}, v: {mesh: box, type: float32, components: 2}}' // new_line('a') // &
    'analyses: [sums: {variables: [t, v]}, careless: {variables: [t]}]'
  call sidestream_open_text(MPI_COMM_WORLD, text, session)
  call sidestream_register_function(session, 'sums', 3, local, combine, merge_sums)
  call sidestream_register_function(session, 'careless', 0, careless)
  call sidestream_register_function(session, 'sums', 3, local, ierr=code)
  call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'sums')
  if (sidestream_is_server(session)) then
    call sidestream_serve(session)
  else
    call simulate()
    steps = 2
  end if
  call sidestream_close(session, account, code)
  call check_error(session, code, SIDESTREAM_OK, '')
  call check(account%failed == steps .and. account%delivered == steps, 'the careless one fails each time')
  if (ranks < 4) call check(combined == 2, 'combine ran in each iteration')
  call end_checks()
  call MPI_Finalize(code)

contains

  subroutine simulate()
    real(real64) :: t(-1:nx, -1:ny, nz)
    integer :: comm, rank, size, step, lo, hi
    integer(int64) :: i, j, k
    call sidestream_get_comm(session, comm)
    call MPI_Comm_rank(comm, rank, code)
    call MPI_Comm_size(comm, size, code)
    lo = nz * rank / size
    hi = nz * (rank + 1) / size
    t = -1
    t(0:nx - 1, 0:ny - 1, :) = reshape([(((value(i, j, k), i=0, nx - 1), j=0, ny - 1), k=0, nz - 1)], [nx, ny, nz])
    call sidestream_set_block(session, 'box', rank, [0, 0, lo], [nx, ny, hi])
    call sidestream_set_allocated(session, 't', rank, [-1, -1, lo], [nx + 1, ny + 1, hi])
    do step = 0, 1
      call sidestream_publish(session, 't', rank, t(:, :, lo + 1:hi))
      call publish_v(t(0:nx - 1, 0:ny - 1, lo + 1:hi), rank)
      call sidestream_end_iteration(session, 10 + step, 0.5 * step)
    end do
  end subroutine simulate

  subroutine publish_v(t, rank)
    real(real64), intent(in) :: t(:, :, :)
    integer, intent(in) :: rank
    real(real32) :: v(size(t, 1), size(t, 2), size(t, 3), 2)
    v(:, :, :, 1) = real(t, real32)
    v(:, :, :, 2) = -v(:, :, :, 1)
    call sidestream_publish(session, 'v', rank, v)
  end subroutine publish_v
end program functions
