import numpy
import pytest

import quadmill


@pytest.fixture(scope="session")
def context():
    return quadmill.default_context()


@pytest.fixture
def rng():
    return numpy.random.default_rng(1)
