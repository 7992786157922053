"""Videos, as Gymnasium records them."""

from pathlib import Path

import gymnasium
import monsterzoo.envs  # noqa: F401 (registers the games)
from gymnasium.wrappers import RecordVideo
from needs import needs

needs("pygame")
needs("moviepy")


def test_videos_are_recorded(tmp_path: Path) -> None:
    env = RecordVideo(gymnasium.make("monsterzoo/Pikit-v0", players=2, render_mode="rgb_array"), str(tmp_path))
    _, info = env.reset(seed=3)
    for _ in range(3):
        _, _, _, _, info = env.step(int(info["action_mask"].argmax()))
    env.close()
    assert [path.suffix for path in tmp_path.iterdir() if path.stat().st_size > 1000] == [".mp4"]
