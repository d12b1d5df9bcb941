!> The smallest program that publishes: a box of numbers, in planes. The same in hello.c, hello.cpp and hello.py.
program hello
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi
  use sidestream
  implicit none
  integer, parameter :: nx = 6, ny = 5, nz = 8, steps = 3
  type(sidestream_session) :: session
  integer :: code
  call MPI_Init(code)
  call sidestream_open(MPI_COMM_WORLD, 'run.yaml', session)
  if (sidestream_is_server(session)) then
    call sidestream_serve(session)
  else
    call greet()
  end if
  call sidestream_close(session)
  call MPI_Finalize(code)

contains

  subroutine greet()
    integer :: comm, rank, ranks, k0, k1, i, j, k, step
    real(real64), allocatable :: values(:, :, :)
    call sidestream_get_comm(session, comm)
    call MPI_Comm_rank(comm, rank, code)
    call MPI_Comm_size(comm, ranks, code)
    k0 = nz * rank / ranks
    k1 = nz * (rank + 1) / ranks
    allocate (values(0:nx - 1, 0:ny - 1, k0:k1 - 1))
    call sidestream_set_int(session, 'nx', nx)
    call sidestream_set_int(session, 'ny', ny)
    call sidestream_set_int(session, 'nz', nz)
    call sidestream_set_block(session, 'box', rank, [0, 0, k0], [nx, ny, k1])
    do step = 0, steps - 1
      do k = k0, k1 - 1
        do j = 0, ny - 1
          do i = 0, nx - 1
            values(i, j, k) = real(i + 10 * j + 100 * k + 1000 * step, real64) / 3
          end do
        end do
      end do
      call sidestream_publish(session, 'greeting', rank, values)
      call sidestream_end_iteration(session, step, 0.5d0 * step)
    end do
  end subroutine greet
end program hello
