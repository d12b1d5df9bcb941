"""Jobs start at the same time in one output directory."""

import subprocess

import pytest
from pairs import without
from support import Run, prepare, wait_for

TASKS = "analyses:\n  - statistics: {variable: t}\n"


@pytest.mark.keep(1)
@pytest.mark.parametrize("existing", ["resume", "replace", "refuse"])
def test_one_of_several_jobs_gets_the_directory(tmp_path, existing):
    for round_ in without([1, 2], range(3)):
        folder = tmp_path / f"{existing}-{round_}"
        extra = f"output: {{directory: {folder}/results, existing: {existing}}}\n"
        until = folder / "until"
        options = ["grid=8", "steps=100000000", "pause_ms=20", f"until={until}"]
        command, results = prepare(folder, 1, "inline", TASKS, options, extra)
        jobs = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(4)
        ]
        try:
            wait_for(lambda going=jobs: sum(job.poll() is not None for job in going) >= 3, "three that lose", 100)
            wait_for(lambda table=results / "statistics.csv": table.exists(), "results of the one that won")
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
        (account,) = Run(0, won[0], results).accounts
        assert [int(row.split(",")[0]) for row in rows] == list(range(account["iterations"])) and rows
