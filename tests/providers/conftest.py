"""Clients on real sockets, with a clock that does not wait."""

import pytest

from silu.config import Endpoint, Environment, Paths, Settings
from silu.providers.client import Client
from silu.providers.learned import MemoryLearned
from silu.providers.reading import Clockwork


class Clock:
    """Time that moves only when told; sleeping moves it at once."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    @property
    def works(self) -> Clockwork:
        return Clockwork(clock=self, sleep=self.sleep, jitter=lambda: 1.0)


class House:
    """A settings folder and clients over it."""

    def __init__(self, folder) -> None:
        self.paths = Paths.under(folder)
        self.clock = Clock()
        self.env: dict[str, str] = {"SILU_LOCAL_SERVERS": "off"}
        self.opened: list[Client] = []

    def settings(self) -> Settings:
        return Settings.load(self.paths, self.env)

    def connect(self, name: str, url: str, **fields) -> None:
        self.settings().endpoints.put(Endpoint(name=name, url=url, **fields))

    def client(self, **fields) -> Client:
        fields.setdefault("learned", MemoryLearned())
        client = Client(self.settings(), time=self.clock.works, **fields)
        self.opened.append(client)
        return client


@pytest.fixture
async def house(tmp_path, anyio_backend):
    house = House(tmp_path / "home")
    yield house
    for client in house.opened:
        await client.aclose()


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(paths=Paths.under(tmp_path), env=Environment({}))
