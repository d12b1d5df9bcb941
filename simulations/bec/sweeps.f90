!> Collisions and streaming along one axis, (S^-1 C S C)^2, each cell read and written once.
!>
!> With p = C psi, and m for the amplitude that moves and r for the one that rests, the four collisions of cell i are
!>   q(i) = C (p_m(i - 1), p_r(i)),  s(i) = C (q_m(i + 1), q_r(i)),  t(i) = C (s_m(i - 1), s_r(i)),
!> and the result is t_m(i + 1), t_r(i). So a front of rows suffices: when row i comes in, q(i), s(i - 1) and t(i - 1) are
!> known from it and three amplitudes kept from before, and the results of rows i - 2 and i - 1 are written where nothing
!> is read any more. Collisions leave out their factor 1/2; the result is divided by 16, which is exact.
module bec_sweeps
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: sweep_lines, sweep_rows

  real(real64), parameter :: scale = 1 / 16.0_real64

  type :: row
    real(real64), pointer, contiguous :: of(:) => null()
  end type row

contains

  !> Along y or z (axis 2 or 3). Rows of cells along x are the vectors. `moving`: the amplitude 1 or 2; `below` and
  !> `above`: two layers of cells.
  subroutine sweep_rows(axis, moving, psi, below, above)
    integer, intent(in) :: axis, moving
    real(real64), contiguous, target, intent(inout) :: psi(:, :, :, :)
    real(real64), contiguous, target, intent(in) :: below(:, :, :, :), above(:, :, :, :)
    real(real64), allocatable :: kept(:, :)
    real(real64), allocatable, target :: nowhere(:, :, :, :)
    type(row) :: in(4), out(4)
    integer :: line, i, n, c(4)
    n = size(psi, axis)
    allocate (kept(size(psi, 1), 6), nowhere(size(psi, 1), 1, 1, 4))
    c = components(moving)
    do line = 1, size(psi, 5 - axis)
      kept = 0
      do i = -1, n + 2
        if (i < 1) then
          call point(below, axis, line, i + 2, c, in)
        else if (i > n) then
          call point(above, axis, line, i - n, c, in)
        else
          call point(psi, axis, line, i, c, in)
        end if
        call point(nowhere, axis, 1, 1, c, out)
        if (i - 2 >= 1) call point(psi, axis, line, i - 2, c(1:2), out(1:2))
        if (i - 1 >= 1 .and. i - 1 <= n) call point(psi, axis, line, i - 1, c(3:4), out(3:4))
        call advance_front(size(psi, 1), in(1)%of, in(2)%of, in(3)%of, in(4)%of, kept, &
                           out(1)%of, out(2)%of, out(3)%of, out(4)%of)
      end do
    end do
  end subroutine sweep_rows

  !> Where both parts of the moving amplitude are, then those of the other.
  pure function components(moving) result(c)
    integer, intent(in) :: moving
    integer :: c(4)
    c = merge([1, 2, 3, 4], [3, 4, 1, 2], moving == 1)
  end function components

  !> Points to the components c of row i of a line along y or z.
  subroutine point(psi, axis, line, i, c, rows)
    real(real64), contiguous, target, intent(in) :: psi(:, :, :, :)
    integer, intent(in) :: axis, line, i, c(:)
    type(row), intent(inout) :: rows(:)
    integer :: k
    do k = 1, size(c)
      if (axis == 2) then
        rows(k)%of => psi(:, i, line, c(k))
      else
        rows(k)%of => psi(:, line, i, c(k))
      end if
    end do
  end subroutine point

  !> Takes in the next row. `kept`: p_m of the row before, q_r of it, and s_m of the one before that.
  pure subroutine advance_front(n, m_re, m_im, r_re, r_im, kept, to_m_re, to_m_im, to_r_re, to_r_im)
    integer, intent(in) :: n
    real(real64), intent(in) :: m_re(n), m_im(n), r_re(n), r_im(n)
    real(real64), intent(inout) :: kept(n, 6)
    real(real64), intent(inout) :: to_m_re(n), to_m_im(n), to_r_re(n), to_r_im(n)
    real(real64) :: p(4), q(4), s(4), t(4)
    integer :: i
    !GCC$ ivdep
    do i = 1, n
      p = collision(m_re(i), m_im(i), r_re(i), r_im(i))
      q = collision(kept(i, 1), kept(i, 2), p(3), p(4))
      s = collision(q(1), q(2), kept(i, 3), kept(i, 4))
      t = collision(kept(i, 5), kept(i, 6), s(3), s(4))
      kept(i, 1) = p(1)
      kept(i, 2) = p(2)
      kept(i, 3) = q(3)
      kept(i, 4) = q(4)
      kept(i, 5) = s(1)
      kept(i, 6) = s(2)
      to_m_re(i) = scale * t(1)
      to_m_im(i) = scale * t(2)
      to_r_re(i) = scale * t(3)
      to_r_im(i) = scale * t(4)
    end do
  end subroutine advance_front

  !> Twice C (x, y): x + y - i (x - y) and x + y + i (x - y).
  pure function collision(x_re, x_im, y_re, y_im) result(c)
    real(real64), intent(in) :: x_re, x_im, y_re, y_im
    real(real64) :: c(4)
    c(1) = (x_re + y_re) + (x_im - y_im)
    c(2) = (x_im + y_im) - (x_re - y_re)
    c(3) = (x_re + y_re) - (x_im - y_im)
    c(4) = (x_im + y_im) + (x_re - y_re)
  end function collision

  !> Along x, where the line itself is the vector: collision after collision from one buffer to the next.
  subroutine sweep_lines(moving, psi, below, above)
    integer, intent(in) :: moving
    real(real64), contiguous, intent(inout) :: psi(:, :, :, :)
    real(real64), contiguous, intent(in) :: below(:, :, :, :), above(:, :, :, :)
    real(real64), allocatable :: one(:, :), two(:, :)
    integer :: j, k, l, n, c(4)
    n = size(psi, 1)
    c = components(moving)
    allocate (one(-1:n + 2, 4), two(-1:n + 2, 4))
    do k = 1, size(psi, 3)
      do j = 1, size(psi, 2)
        do l = 1, 4
          one(-1:0, l) = below(:, j, k, c(l))
          one(1:n, l) = psi(:, j, k, c(l))
          one(n + 1:n + 2, l) = above(:, j, k, c(l))
        end do
        call collide(n + 4, one(-1, 1), one(-1, 2), one(-1, 3), one(-1, 4), two(-1, 1), two(-1, 2), two(-1, 3), two(-1, 4))
        call collide(n + 3, two(-1, 1), two(-1, 2), two(0, 3), two(0, 4), one(0, 1), one(0, 2), one(0, 3), one(0, 4))
        call collide(n + 2, one(1, 1), one(1, 2), one(0, 3), one(0, 4), two(0, 1), two(0, 2), two(0, 3), two(0, 4))
        call collide(n + 1, two(0, 1), two(0, 2), two(1, 3), two(1, 4), one(1, 1), one(1, 2), one(1, 3), one(1, 4))
        psi(:, j, k, c(1)) = scale * one(2:n + 1, 1)
        psi(:, j, k, c(2)) = scale * one(2:n + 1, 2)
        psi(:, j, k, c(3)) = scale * one(1:n, 3)
        psi(:, j, k, c(4)) = scale * one(1:n, 4)
      end do
    end do
  end subroutine sweep_lines

  pure subroutine collide(n, x_re, x_im, y_re, y_im, to_x_re, to_x_im, to_y_re, to_y_im)
    integer, intent(in) :: n
    real(real64), intent(in) :: x_re(n), x_im(n), y_re(n), y_im(n)
    real(real64), intent(inout) :: to_x_re(n), to_x_im(n), to_y_re(n), to_y_im(n)
    real(real64) :: c(4)
    integer :: i
    do i = 1, n
      c = collision(x_re(i), x_im(i), y_re(i), y_im(i))
      to_x_re(i) = c(1)
      to_x_im(i) = c(2)
      to_y_re(i) = c(3)
      to_y_im(i) = c(4)
    end do
  end subroutine collide
end module bec_sweeps
