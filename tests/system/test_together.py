"""Jobs that start at the same time in one output directory."""

import subprocess
import time

import pytest
from support import prepare

TASKS = "analyses:\n  - statistics: {variable: t}\n"


def wait_until(true, limit=100):
    """Or for so long, so that what follows tells what is wrong."""
    deadline = time.monotonic() + limit
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.parametrize("existing", ["refuse", "replace", "resume"])
def test_one_of_several_jobs_gets_the_directory(tmp_path, existing):
    for round_ in range(3):
        folder = tmp_path / f"{existing}-{round_}"
        extra = f"output: {{directory: {folder}/results, existing: {existing}}}\n"
        until = folder / "until"
        options = ["grid=8", "steps=100000000", "pause_ms=20", f"until={until}"]
        command, results = prepare(folder, 1, "inline", TASKS, options, extra)
        jobs = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(4)
        ]
        try:
            wait_until(lambda going=jobs: sum(job.poll() is not None for job in going) >= 3)
            wait_until(lambda table=results / "statistics.csv": table.exists())
            until.touch()
            texts = [job.communicate(timeout=100)[0] for job in jobs]
        finally:
            for job in jobs:
                if job.poll() is None:
                    job.kill()
        won = [text for job, text in zip(jobs, texts, strict=True) if job.returncode == 0]
        lost = [text for job, text in zip(jobs, texts, strict=True) if job.returncode != 0]
        assert len(won) == 1, texts
        assert all("another run writes into the output directory" in text for text in lost) or existing == "refuse"
        assert all("another run writes" in text or "holds an earlier run" in text for text in lost), lost
        rows = (results / "statistics.csv").read_text().splitlines()[1:]
        assert [int(row.split(",")[0]) for row in rows] == list(range(len(rows))) and rows
