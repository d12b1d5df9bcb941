! Heat in an insulated box on pencils, divided as by 2DECOMP&FFT. The lines marked S give its temperature to Sidestream.
!
! Usage: mpirun -n RANKS pencils [CONFIGURATION]
!
! Explicit steps of dT/dt = Laplace T on n x n x n points. Each rank has all of x, and the points xstart to xend, counted
! from 1, of y and z, with a layer of ghosts on either side along y and z.
module decomposition
  use mpi
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: n = 32, steps = 20
  ! Time step over the square of the spacing; above 1/6 the scheme is unstable.
  real(real64), parameter :: fourier = 0.1_real64
  integer :: grid, rank                 ! the ranks in rows and columns, and this one
  integer :: before(2:3), after(2:3)    ! neighbours along y and z, MPI_PROC_NULL at the walls
  integer :: xstart(3), xend(3)
  real(real64), allocatable :: t(:, :, :), next(:, :, :)

contains

  ! 300 K, and a hot corner of 400 K.
  subroutine decompose(comm)
    integer, intent(in) :: comm
    integer :: rows(2), place(2), ranks, axis, code
    call MPI_Comm_size(comm, ranks, code)
    rows = 0
    call MPI_Dims_create(ranks, 2, rows, code)
    call MPI_Cart_create(comm, 2, rows, [.false., .false.], .false., grid, code)
    call MPI_Comm_rank(grid, rank, code)
    call MPI_Cart_coords(grid, rank, 2, place, code)
    xstart(1) = 1
    xend(1) = n
    do axis = 2, 3
      xstart(axis) = n * place(axis - 1) / rows(axis - 1) + 1
      xend(axis) = n * (place(axis - 1) + 1) / rows(axis - 1)
      call MPI_Cart_shift(grid, axis - 2, 1, before(axis), after(axis), code)
    end do
    allocate (t(n, xstart(2) - 1:xend(2) + 1, xstart(3) - 1:xend(3) + 1), source=300.0_real64)
    allocate (next, source=t)
    t(:n / 2, :min(n / 2, xend(2)), :min(n / 2, xend(3))) = 400
  end subroutine decompose

  ! Sends a plane to one neighbour and receives one from the other, if there is one.
  subroutine swap(mine, to, ghost, from)
    real(real64), intent(in) :: mine(:, :)
    real(real64), intent(inout) :: ghost(:, :)
    integer, intent(in) :: to, from
    real(real64) :: out(size(mine, 1), size(mine, 2)), in(size(mine, 1), size(mine, 2))
    integer :: code
    out = mine
    call MPI_Sendrecv(out, size(out), MPI_DOUBLE_PRECISION, to, 0, in, size(in), MPI_DOUBLE_PRECISION, from, 0, grid, &
                      MPI_STATUS_IGNORE, code)
    if (from /= MPI_PROC_NULL) ghost = in
  end subroutine swap

  subroutine exchange()
    integer :: j0, j1, k0, k1
    j0 = xstart(2)
    j1 = xend(2)
    k0 = xstart(3)
    k1 = xend(3)
    call swap(t(:, j1, k0:k1), after(2), t(:, j0 - 1, k0:k1), before(2))
    call swap(t(:, j0, k0:k1), before(2), t(:, j1 + 1, k0:k1), after(2))
    call swap(t(:, j0:j1, k1), after(3), t(:, j0:j1, k0 - 1), before(3))
    call swap(t(:, j0:j1, k0), before(3), t(:, j0:j1, k1 + 1), after(3))
  end subroutine exchange

  subroutine step()
    real(real64) :: here, flux
    integer :: i, j, k
    do k = xstart(3), xend(3)
      do j = xstart(2), xend(2)
        do i = 1, n
          here = t(i, j, k)
          flux = 0 ! none across a wall
          if (i > 1) flux = flux + t(i - 1, j, k) - here
          if (i < n) flux = flux + t(i + 1, j, k) - here
          if (j > 1) flux = flux + t(i, j - 1, k) - here
          if (j < n) flux = flux + t(i, j + 1, k) - here
          if (k > 1) flux = flux + t(i, j, k - 1) - here
          if (k < n) flux = flux + t(i, j, k + 1) - here
          next(i, j, k) = here + fourier * flux
        end do
      end do
    end do
    t(:, xstart(2):xend(2), xstart(3):xend(3)) = next(:, xstart(2):xend(2), xstart(3):xend(3))
  end subroutine step
end module decomposition

program pencils
  use decomposition
  use sidestream ! S
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  type(sidestream_session) :: session ! S
  character(len=256) :: file
  integer :: world_rank, ignored, code
  call MPI_Init(ignored)
  call MPI_Comm_rank(MPI_COMM_WORLD, world_rank, ignored)
  file = 'run.yaml'
  if (command_argument_count() > 0) call get_command_argument(1, file)
  call sidestream_open(MPI_COMM_WORLD, file, session, code) ! S
  if (code == SIDESTREAM_OK) then ! S
    if (sidestream_is_server(session)) then ! S
      call sidestream_serve(session) ! S
    else
      call simulate()
    end if
    call sidestream_close(session, ierr=code) ! S: the first error of all calls on this rank
  end if
  ! S: failures of opening, starting and serving are the same on every rank.
  if (sidestream_failed(code) .and. world_rank == 0) write (error_unit, '(2a)') 'pencils: ', sidestream_message(session)
  call MPI_Finalize(ignored)
  if (sidestream_failed(code)) stop 1

contains

  subroutine simulate()
    integer :: comm, cycle
    call sidestream_get_comm(session, comm) ! S
    call decompose(comm)
    call sidestream_set_int(session, 'n', n) ! S
    call sidestream_set_block(session, 'box', rank, xstart - 1, xend) ! S
    call sidestream_start(session) ! S
    do cycle = 0, steps - 1
      call exchange()
      call sidestream_publish(session, 'temperature', rank, t(:, xstart(2):xend(2), xstart(3):xend(3))) ! S
      call sidestream_end_iteration(session, cycle, cycle * fourier) ! S
      call step()
    end do
    call MPI_Comm_free(grid, ignored)
  end subroutine simulate
end program pencils
