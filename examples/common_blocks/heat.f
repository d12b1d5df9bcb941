C     Heat in an insulated plate, as FORTRAN 77 has it: arrays of fixed
C     size in common blocks. The lines marked S call TAP.F90, which
C     gives the temperature to Sidestream.
C
C     Usage: mpirun -n RANKS heat77
      PROGRAM HEAT
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INCLUDE 'fields.inc'
      INTEGER ISTEP, IERR, NSTEP, ISIM, IFAIL
      PARAMETER (NSTEP = 20)
      CALL MPI_INIT(IERR)
      MYCOMM = MPI_COMM_WORLD
C     S: MYCOMM are then the ranks that simulate; ISIM is 0 elsewhere
      CALL TAPOPN(ISIM)
      IF (ISIM .EQ. 0) GOTO 900
      CALL SETUP
      CALL TAPDEC
      DO 100 ISTEP = 0, NSTEP - 1
         CALL EXCH
C        S
         CALL TAPOUT(ISTEP)
         CALL STEP
  100 CONTINUE
C     S
  900 CALL TAPEND(IFAIL)
      CALL MPI_FINALIZE(IERR)
      IF (IFAIL .NE. 0) STOP 1
      END

C     The rows J0 to J1 of the plate are mine: 300 K, a hot corner.
      SUBROUTINE SETUP
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INCLUDE 'fields.inc'
      INTEGER I, J, NPROC, IERR
      CALL MPI_COMM_RANK(MYCOMM, MYRANK, IERR)
      CALL MPI_COMM_SIZE(MYCOMM, NPROC, IERR)
      J0 = NY * MYRANK / NPROC + 1
      J1 = NY * (MYRANK + 1) / NPROC
      LOWER = MYRANK - 1
      IF (MYRANK .EQ. 0) LOWER = MPI_PROC_NULL
      UPPER = MYRANK + 1
      IF (MYRANK .EQ. NPROC - 1) UPPER = MPI_PROC_NULL
      DO 20 J = J0, J1
         DO 10 I = 1, NX
            T(I, J - J0 + 1) = 300D0
            IF (I .LE. NX / 2 .AND. J .LE. NY / 2)
     &         T(I, J - J0 + 1) = 400D0
   10    CONTINUE
   20 CONTINUE
      END

      SUBROUTINE EXCH
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INCLUDE 'fields.inc'
      INTEGER IERR, M, ISTAT(MPI_STATUS_SIZE)
      M = J1 - J0 + 1
      CALL MPI_SENDRECV(T(1, M), NX, MPI_DOUBLE_PRECISION, UPPER, 0,
     &   T(1, 0), NX, MPI_DOUBLE_PRECISION, LOWER, 0, MYCOMM, ISTAT,
     &   IERR)
      CALL MPI_SENDRECV(T(1, 1), NX, MPI_DOUBLE_PRECISION, LOWER, 1,
     &   T(1, M + 1), NX, MPI_DOUBLE_PRECISION, UPPER, 1, MYCOMM,
     &   ISTAT, IERR)
      END

      SUBROUTINE STEP
      IMPLICIT NONE
      INCLUDE 'fields.inc'
      INTEGER I, J, M
      DOUBLE PRECISION FLUX
      M = J1 - J0 + 1
      DO 20 J = 1, M
         DO 10 I = 1, NX
            FLUX = 0D0
            IF (I .GT. 1) FLUX = FLUX + T(I - 1, J) - T(I, J)
            IF (I .LT. NX) FLUX = FLUX + T(I + 1, J) - T(I, J)
            IF (J + J0 .GT. 2) FLUX = FLUX + T(I, J - 1) - T(I, J)
            IF (J + J0 .LE. NY) FLUX = FLUX + T(I, J + 1) - T(I, J)
            TNEW(I, J) = T(I, J) + 0.1D0 * FLUX
   10    CONTINUE
   20 CONTINUE
      DO 40 J = 1, M
         DO 30 I = 1, NX
            T(I, J) = TNEW(I, J)
   30    CONTINUE
   40 CONTINUE
      END
