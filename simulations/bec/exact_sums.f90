!> Sums that are the same bits for any division among ranks.
!>
!> Terms become whole numbers of two words, in units of the greatest term's power of two. Whole numbers add up exactly in
!> any order. Up to 2^30 terms lose less than 2^-59 of the greatest each.
module bec_exact_sums
  use mpi
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: exact_sum

contains

  !> Collective: the sum of terms, none of them negative, over all ranks of `comm`.
  function exact_sum(terms, comm) result(total)
    real(real64), intent(in) :: terms(:, :, :)
    integer, intent(in) :: comm
    real(real64) :: total, greatest, unit
    integer(int64) :: sums(3), all(3)
    integer :: code, bits
    greatest = 0
    if (size(terms) > 0) greatest = maxval(terms)
    call MPI_Allreduce(MPI_IN_PLACE, greatest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, comm, code)
    sums = 0
    sums(3) = size(terms, kind=int64)
    call MPI_Allreduce(sums(3), all(3), 1, MPI_INTEGER8, MPI_SUM, comm, code)
    total = 0
    if (greatest <= 0 .or. all(3) == 0) return
    ! The words of all terms together must fit 63 bits.
    bits = min(30, 62 - (exponent(real(all(3), real64)) + 1))
    unit = scale(1.0_real64, bits - exponent(greatest))
    call add(terms, unit, scale(1.0_real64, bits), sums(1), sums(2))
    call MPI_Allreduce(sums, all, 2, MPI_INTEGER8, MPI_SUM, comm, code)
    total = (real(all(1), real64) + real(all(2), real64) * scale(1.0_real64, -bits)) / unit
  end function exact_sum

  pure subroutine add(terms, unit, more, whole, rest)
    real(real64), intent(in) :: terms(:, :, :), unit, more
    integer(int64), intent(inout) :: whole, rest
    integer(int64) :: word
    real(real64) :: term
    integer :: i, j, k
    do k = 1, size(terms, 3)
      do j = 1, size(terms, 2)
        do i = 1, size(terms, 1)
          term = terms(i, j, k) * unit
          word = int(term, int64)
          whole = whole + word
          rest = rest + int((term - real(word, real64)) * more, int64)
        end do
      end do
    end do
  end subroutine add
end module bec_exact_sums
