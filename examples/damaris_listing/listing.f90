!> Listing 1 of Dorier et al., Damaris: Addressing Performance Variability in Data Management for Post-Petascale
!> Simulations (2016), with calls of Sidestream, and a simulation where the listing has dots: each rank has a slab of a
!> rectilinear mesh. run.yaml is the listing's configuration, translated.
module plugin
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi
  use sidestream
  implicit none

contains

  !> The action of the event: the largest temperature.
  subroutine largest(input, partial, message, status)
    type(sidestream_input), intent(in) :: input
    real(real64), intent(inout) :: partial(:)
    character(len=*), intent(inout) :: message
    integer, intent(inout) :: status
    real(real64), pointer :: t(:, :, :)
    integer :: n
    partial = -huge(partial)
    do n = 1, int(sidestream_input_blocks(input, 'temperature'))
      call sidestream_get_values(input, 'temperature', n, t)
      partial(1) = max(partial(1), maxval(t))
    end do
    status = 0
    message = ''
  end subroutine largest

  !> A line of a table, on the first server.
  subroutine tell(input, partial, servers, message, status)
    type(sidestream_input), intent(in) :: input
    real(real64), intent(inout) :: partial(:)
    integer, intent(in) :: servers
    character(len=*), intent(inout) :: message
    integer, intent(inout) :: status
    real(real64) :: whole(1)
    integer :: rank, unit
    call MPI_Allreduce(partial, whole, 1, MPI_DOUBLE_PRECISION, MPI_MAX, servers, status)
    message = ''
    call MPI_Comm_rank(servers, rank, status)
    if (rank /= 0) return
    open (newunit=unit, file='largest.txt', position='append')
    write (unit, '(i0,1x,es23.16)') sidestream_input_cycle(input), whole(1)
    close (unit)
  end subroutine tell
end module plugin

program example
  use plugin
  implicit none
  integer, parameter :: w = 4, h = 4, d = 4, steps = 6
  type(sidestream_session) :: session
  integer :: ierr
  call MPI_Init(ierr)

  ! initialization
  call sidestream_open(MPI_COMM_WORLD, 'run.yaml', session)
  call sidestream_register_function(session, 'my_function', 1, largest, tell)
  if (sidestream_is_server(session)) then
    call sidestream_serve(session)
  else
    call simulate()
  end if

  ! finalization
  call sidestream_close(session)
  call MPI_Finalize(ierr)

contains

  subroutine simulate()
    real(real64) :: temperature(w, h, d)
    real :: x3d(w), y3d(h), z3d(d)
    integer :: comm, rank, i, j, k, step
    call sidestream_get_comm(session, comm)
    call MPI_Comm_rank(comm, rank, ierr)

    ! the rank's part of the mesh, constant in time; ranks share the nodes between them
    x3d = [(0.5 * i, i=0, w - 1)]
    y3d = [(real(j * j), j=0, h - 1)]
    z3d = [(real(k + (d - 1) * rank), k=0, d - 1)]
    call sidestream_set_rectilinear_block(session, 'mesh3d', rank, [0, 0, (d - 1) * rank], &
                                          [w - 1, h - 1, (d - 1) * (rank + 1)], x3d, y3d, z3d)
    call sidestream_start(session)

    do step = 0, steps - 1 ! simulation main loop
      do k = 1, d
        do j = 1, h
          do i = 1, w
            temperature(i, j, k) = 300 + x3d(i) + 2 * y3d(j) - 3 * z3d(k) + 10 * step
          end do
        end do
      end do
      ! publishing temperature data
      call sidestream_publish(session, 'temperature', rank, temperature)
      ! sending a signal, in every other step
      if (modulo(step, 2) == 0) call sidestream_signal(session, 'my_event')
      ! end of iteration
      call sidestream_end_iteration(session, step, 0.1d0 * step)
    end do
  end subroutine simulate
end program example
