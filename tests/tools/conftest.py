from importlib.util import find_spec

from needs import needs

if find_spec("torch"):
    import torch

    torch.set_num_threads(1)


def pytest_pycollect_makemodule() -> None:
    """All of these tests need torch; skipped here and not above, where a conftest must not be."""
    needs("torch")
