! Heat in an insulated box, and the lines (marked S) that give its temperature to Sidestream.
!
! Usage: mpirun -n RANKS heat [CONFIGURATION [CHECKPOINTS]]
!
! CHECKPOINTS is the directory of a database written by a run with any number of ranks; this run continues from there.
!
! Explicit steps of dT/dt = Laplace T on n x n x n cells, cut into slabs along k. One ghost plane on either side of a slab
! holds the neighbour's values. No heat leaves the box, so the mean temperature stays what it was.
module slabs
  use mpi
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: n = 32, steps = 20
  ! Time step over the square of the spacing; above 1/6 the scheme is unstable.
  real(real64), parameter :: fourier = 0.1_real64

  ! One rank's slab: planes lo + 1 to hi of the box, with a plane on either side.
  type :: slab
    integer :: comm, below, above ! the neighbours' ranks, MPI_PROC_NULL at the walls
    integer :: lo, hi
    real(real64), allocatable :: now(:, :, :), next(:, :, :)
  end type slab

contains

  ! 300 K, and a hot corner of 400 K.
  subroutine make(s, comm)
    type(slab), intent(out) :: s
    integer, intent(in) :: comm
    integer :: rank, ranks, code
    call MPI_Comm_rank(comm, rank, code)
    call MPI_Comm_size(comm, ranks, code)
    s%comm = comm
    s%below = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    s%above = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
    s%lo = n * rank / ranks
    s%hi = n * (rank + 1) / ranks
    allocate (s%now(n, n, s%lo:s%hi + 1), s%next(n, n, s%lo:s%hi + 1))
    s%now = 300
    s%now(:n / 2, :n / 2, :min(n / 2, s%hi)) = 400
  end subroutine make

  subroutine exchange(s)
    type(slab), intent(inout) :: s
    integer, parameter :: count = n * n
    integer :: code
    call MPI_Sendrecv(s%now(1, 1, s%hi), count, MPI_DOUBLE_PRECISION, s%above, 0, s%now(1, 1, s%lo), count, &
                      MPI_DOUBLE_PRECISION, s%below, 0, s%comm, MPI_STATUS_IGNORE, code)
    call MPI_Sendrecv(s%now(1, 1, s%lo + 1), count, MPI_DOUBLE_PRECISION, s%below, 1, s%now(1, 1, s%hi + 1), count, &
                      MPI_DOUBLE_PRECISION, s%above, 1, s%comm, MPI_STATUS_IGNORE, code)
  end subroutine exchange

  subroutine step(s)
    type(slab), intent(inout) :: s
    real(real64), allocatable :: swap(:, :, :)
    real(real64) :: t, flux
    integer :: i, j, k
    call exchange(s)
    do k = s%lo + 1, s%hi
      do j = 1, n
        do i = 1, n
          t = s%now(i, j, k)
          flux = 0 ! none across a wall
          if (i > 1) flux = flux + s%now(i - 1, j, k) - t
          if (i < n) flux = flux + s%now(i + 1, j, k) - t
          if (j > 1) flux = flux + s%now(i, j - 1, k) - t
          if (j < n) flux = flux + s%now(i, j + 1, k) - t
          if (k > 1) flux = flux + s%now(i, j, k - 1) - t
          if (k < n) flux = flux + s%now(i, j, k + 1) - t
          s%next(i, j, k) = t + fourier * flux
        end do
      end do
    end do
    call move_alloc(s%now, swap)
    call move_alloc(s%next, s%now)
    call move_alloc(swap, s%next)
  end subroutine step
end module slabs

program heat
  use mpi
  use sidestream ! S
  use slabs
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  type(sidestream_session) :: session ! S
  character(len=256) :: file
  integer :: world_rank, ignored, code
  logical :: unread = .false. ! there are checkpoints to go on from, but they cannot be read
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
    ! S: the first error of all calls on this rank. A refused iteration is not an error: the simulation goes on.
    call sidestream_close(session, ierr=code)
  end if
  ! S: failures of opening, starting and serving are the same on every rank.
  if (sidestream_failed(code) .and. world_rank == 0) write (error_unit, '(2a)') 'heat: ', sidestream_message(session)
  call MPI_Finalize(ignored)
  if (sidestream_failed(code) .or. unread) stop 1

contains

  ! Runs on the ranks that simulate.
  subroutine simulate()
    type(slab) :: s
    integer :: comm, rank, cycle, first
    call sidestream_get_comm(session, comm) ! S: instead of MPI_COMM_WORLD
    call make(s, comm)
    call MPI_Comm_rank(comm, rank, ignored)
    first = 0
    if (command_argument_count() > 1) call go_on(s, comm, first) ! S
    unread = first < 0
    if (unread) return
    call sidestream_set_int(session, 'n', n) ! S: $n in run.yaml
    call sidestream_set_block(session, 'box', rank, [0, 0, s%lo], [n, n, s%hi]) ! S: my piece
    call sidestream_start(session) ! S: all checks happen here
    do cycle = first, steps - 1
      call sidestream_publish(session, 'temperature', rank, s%now(:, :, s%lo + 1:s%hi)) ! S
      call sidestream_end_iteration(session, cycle, cycle * fourier) ! S
      call step(s)
    end do
  end subroutine simulate

  ! S: reads my planes of the newest checkpoint, whoever wrote them, and makes one step. `first` is the cycle after
  ! that, or negative if there is no checkpoint.
  subroutine go_on(s, comm, first)
    type(slab), intent(inout) :: s
    integer, intent(in) :: comm
    integer, intent(out) :: first
    type(sidestream_restart) :: restart
    character(len=256) :: directory
    integer :: rank, found
    call get_command_argument(2, directory)
    call sidestream_restart_open(comm, directory, restart, found)
    if (found == SIDESTREAM_OK) then
      call sidestream_restart_iteration(restart, first)
      call sidestream_restart_read_box(restart, 'temperature', [0, 0, s%lo], [n, n, s%hi], s%now(:, :, s%lo + 1:s%hi))
      call sidestream_restart_close(restart, found)
    end if
    if (found /= SIDESTREAM_OK) then
      call MPI_Comm_rank(comm, rank, ignored)
      if (rank == 0) write (error_unit, '(2a)') 'heat: ', sidestream_restart_message(restart)
      first = -1
      return
    end if
    call step(s)
    first = first + 1
  end subroutine go_on
end program heat
