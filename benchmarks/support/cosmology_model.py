"""Predicts the duration of a run from runs without analyses and runs in situ.

In situ it is S tau_c + K tau_a for S steps and K analyses. In transit the simulation and the analyses go on beside each
other, each after what it depends on: an analysis after the step that published, and after the analysis before. With
processors for all that is the Nyx paper's model: S tau_c, and the last analysis, if n tau_c >= tau_a; about K tau_a
otherwise. Where ranks share cores, each rank that has something to do gets the same part of them.
"""


def in_situ(steps, every, step, analysis):
    """Seconds until the last analysis is done; one is made before the first step too."""
    return steps * step + (1 + steps // every) * analysis


def in_transit(steps, every, step, analysis, clients, servers, cores):
    """The same. `step` and `analysis`: seconds on so many clients, or servers, that have the machine to themselves."""
    now, made, left, waiting, work = 0.0, 0, step, 1, 0.0  # the beginning is published
    while made < steps or waiting > 0:
        simulating, analysing = made < steps, waiting > 0
        if analysing and work <= 0:
            work = analysis
        ranks = clients * simulating + servers * analysing
        # Those that have their cores alone lose nothing by others.
        speed_step = _speed(clients, ranks, cores) if simulating else 0.0
        speed_work = _speed(servers, ranks, cores) if analysing else 0.0
        span = min(left / speed_step if simulating else float("inf"), work / speed_work if analysing else float("inf"))
        now += span
        left -= span * speed_step
        work -= span * speed_work
        if simulating and left <= 1e-12:
            made, left = made + 1, step
            waiting += made % every == 0
        if analysing and work <= 1e-12:
            waiting, work = waiting - 1, 0.0
    return now


def _speed(ranks, busy, cores):
    """Speed of `ranks` ranks among `busy` ones, relative to that of `ranks` ranks by themselves."""
    return min(1.0, cores / busy) / min(1.0, cores / ranks)
