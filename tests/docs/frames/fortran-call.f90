program frame
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  use mpi
  use sidestream
  implicit none
  type :: particle
    real(real64) :: x, mass
  end type particle
  type(sidestream_session) :: session
  type(sidestream_account) :: account
  type(particle) :: particles(5)
  integer :: code, rank, step, k0, k1, nx, ny, n
  integer(int8) :: flags(5), refined(9)
  integer(int64) :: block
  real(real64) :: time, rho(9), v(9, 3), times(2)
  real(real64), target :: t(0:9, 0:9, 0:9), u(3, 8, 8, 8), w(8, 8, 8, 2)
  real(real64), pointer :: p(:, :, :)
  rank = 0; step = 0; k0 = 0; k1 = 8; nx = 8; ny = 8; block = 0; time = 0; t = 0; u = 0; w = 0; flags = 0; code = 0
  particles = particle(0, 0); n = 9; refined = 0; rho = 0; v = 0; times = 0
  @BLOCK@
  if (.false.) print *, code, rank, step, k0, k1, nx, ny, block, time, flags, associated(p, t), particles, u, w, account
  if (.false.) print *, n, refined, rho, v, times
end program frame
