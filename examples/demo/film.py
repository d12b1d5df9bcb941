"""Frames to a film that opens anywhere: H.264, 8 bits, 4:2:0, in an MP4 whose index comes first."""

import subprocess
from pathlib import Path

import imageio_ffmpeg


def make_film(frames, file, per_second=10):
    """`frames`: PNG files in order. Raises RuntimeError with ffmpeg's last words if it fails."""
    if not frames:
        raise RuntimeError(f"no frames to make {file} from")
    # Through a pipe instead of a numbered pattern: numbers may have gaps.
    pictures = b"".join(Path(frame).read_bytes() for frame in frames)
    command = [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error"),
        *("-f", "image2pipe", "-framerate", str(per_second), "-c:v", "png", "-i", "-"),
        *("-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"),
        *("-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart", str(file)),
    ]
    done = subprocess.run(command, input=pictures, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ffmpeg could not make {file}: {done.stderr.decode(errors='replace').strip()[-500:]}")
