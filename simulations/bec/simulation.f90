!> A run: start, steps, publications and reports.
module bec_simulation
  use bec_blocks, only: blocks, divide
  use bec_coupling, only: coupling, communicator, declare, publish
  use bec_energies, only: energies, measure
  use bec_fields, only: compute, write_fields
  use bec_lattice_gas, only: condensate, load, step
  use bec_options, only: options
  use bec_relaxing, only: relax
  use bec_starts, only: begin
  use mpi, only: MPI_Wtime
  use, intrinsic :: iso_fortran_env, only: output_unit, real64
  implicit none
  private
  public :: simulate

contains

  !> Collective over communicator(link). `message` is empty, or a sentence if the run cannot be.
  subroutine simulate(o, link, message)
    type(options), intent(in) :: o
    type(coupling), intent(inout) :: link
    character(len=:), allocatable, intent(out) :: message
    type(condensate) :: c
    real(real64), allocatable :: fields(:, :, :, :)
    logical :: ok
    message = ''
    call divide(o%n, communicator(link), c%block, ok)
    if (.not. ok) then
      message = 'there are too many ranks for so few cells: blocks need two along each axis'
      return
    end if
    c%a = o%a
    c%g = o%g
    call make_start(o, c)
    call declare(link, c%block, o%a, o%g, ok)
    if (ok) call run(o, link, c, fields, ok)
    if (.not. ok .or. o%dump == '') return
    call compute(c, fields)
    call write_fields(trim(o%dump), c%block, fields, ok)
    if (.not. ok) message = '--dump: ' // trim(o%dump) // ' cannot be written'
  end subroutine simulate

  subroutine make_start(o, c)
    type(options), intent(in) :: o
    type(condensate), intent(inout) :: c
    real(real64), allocatable :: psi(:, :, :, :)
    allocate (psi(c%block%own(1), c%block%own(2), c%block%own(3), 2))
    call begin(o%start, c%block, o%a, o%g, psi)
    call relax(c%block, o%a, o%g, o%relax, psi)
    call load(c, psi)
  end subroutine make_start

  !> Ends early if publishing fails, `ok` is false then; closing the coupling tells why.
  subroutine run(o, link, c, fields, ok)
    type(options), intent(in) :: o
    type(coupling), intent(inout) :: link
    type(condensate), intent(inout) :: c
    real(real64), allocatable, intent(inout) :: fields(:, :, :, :)
    logical, intent(out) :: ok
    real(real64) :: began, seconds
    integer :: n
    ok = .true.
    seconds = 0
    do n = 0, o%steps
      began = MPI_Wtime()
      if (n > 0) call step(c)
      seconds = seconds + (MPI_Wtime() - began)
      call report(o, c, n)
      if (.not. link%used .or. mod(n, o%every) /= 0) cycle
      call compute(c, fields)
      call publish(link, c%block, fields, n, ok)
      if (.not. ok) return
    end do
    if (o%quiet .or. c%block%rank > 0) return
    print '(i0, a, 2(i0, a), i0, a, i0, a, f0.3, a)', o%steps, ' steps of ', o%n(1), ' x ', o%n(2), ' x ', o%n(3), &
      ' cells on ', c%block%ranks, ' ranks: ', seconds, ' s'
  end subroutine run

  !> Collective: prints a line, if one is due. A program that watches the run reads it.
  subroutine report(o, c, n)
    type(options), intent(in) :: o
    type(condensate), intent(inout) :: c
    integer, intent(in) :: n
    type(energies) :: e
    if (o%report == 0) return
    if (mod(n, o%report) /= 0) return
    e = measure(c)
    if (c%block%rank > 0) return
    print '(a, i0, a, 5(a, es22.15))', 'step ', n, ':', ' norm ', e%norm, ' particles ', e%particles, ' gradient ', &
      e%gradient, ' interaction ', e%interaction, ' total ', e%total
    flush (output_unit)
  end subroutine report
end module bec_simulation
