from needs import needs


def pytest_pycollect_makemodule() -> None:
    """All of these tests need torch; skipped here and not above, where a conftest must not be."""
    needs("torch")
