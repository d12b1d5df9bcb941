"""Jobs that start at the same time in one output directory."""

import subprocess

import pytest
from support import prepare

TASKS = "analyses:\n  - statistics: {variable: t}\n"
STEPS = 30


@pytest.mark.parametrize("existing", ["refuse", "replace", "resume"])
def test_one_of_several_jobs_gets_the_directory(tmp_path, existing):
    for round_ in range(3):
        folder = tmp_path / f"{existing}-{round_}"
        extra = f"output: {{directory: {folder}/results, existing: {existing}}}\n"
        options = ["grid=8", f"steps={STEPS}", "pause_ms=100"]
        command, results = prepare(folder, 1, "inline", TASKS, options, extra)
        jobs = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(4)
        ]
        texts = [job.communicate(timeout=100)[0] for job in jobs]
        won = [text for job, text in zip(jobs, texts, strict=True) if job.returncode == 0]
        lost = [text for job, text in zip(jobs, texts, strict=True) if job.returncode != 0]
        assert len(won) == 1, texts
        assert all("another run writes into the output directory" in text for text in lost) or existing == "refuse"
        assert all("another run writes" in text or "holds an earlier run" in text for text in lost), lost
        rows = (results / "statistics.csv").read_text().splitlines()[1:]
        assert [int(row.split(",")[0]) for row in rows] == list(range(STEPS))
