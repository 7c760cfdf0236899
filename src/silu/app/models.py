"""Models, the endpoints that serve them, their keys, and what was learned of them."""

import asyncio

import msgspec

from silu.app.base import Services
from silu.app.tools import SEARCH_KEYS
from silu.config import Endpoint
from silu.providers.trial import EndpointTest, Trial, trial_of
from silu.types import api
from silu.types.errors import UserError
from silu.types.facts import ErrorInfo


class Models(Services):
    """Services of the model picker and of the endpoint settings."""

    async def models(self, *, refresh: bool = False) -> api.ModelList:
        """What can be chosen; asks vendors and local servers whose listing is old."""
        models = await self.client.models(refresh=refresh)
        return api.ModelList(
            models=models,
            default=self.client.default_model(),
            demo_only=all(model.demo for model in models),
            problems=self.client.problems(),
        )

    async def find_model(self, word: str) -> str:
        """A model by its reference, or by its id alone where that is known; `default` is the
        default model."""
        if word in ("", "default"):
            return await self._default_model()
        if "/" not in word:
            for model in await self.client.models():
                if model.model == word:
                    return model.ref
        return self.client.model(word).ref

    async def endpoints(self) -> api.EndpointList:
        await self.client.models()
        return self.client.endpoints()

    async def test_endpoint(self, wish: api.EndpointTry) -> api.EndpointReport:
        """One real call; nothing is kept."""
        if wish.url is None:
            trial = trial_of(wish.name, self.settings)
            return _report(
                await self.client.test_endpoint(Trial(endpoint=trial.endpoint, key=wish.key))
            )
        return _report(
            await self.client.test_endpoint(Trial(endpoint=_endpoint(wish), key=wish.key))
        )

    async def add_endpoint(self, wish: api.EndpointCreate) -> api.EndpointReport:
        """Keep an endpoint and its key; with `test` only when a real call went well."""
        endpoint = _endpoint(wish)
        report = api.EndpointReport(ok=True, message=f"{wish.name} was added.")
        if wish.test:
            found = await self.client.test_endpoint(Trial(endpoint=endpoint, key=wish.key))
            if not found.ok:
                return _report(found)
            report = _report(found)
            endpoint = msgspec.structs.replace(endpoint, dialect=found.dialect)
        await asyncio.to_thread(self.settings.endpoints.put, endpoint)
        if wish.key:
            await asyncio.to_thread(self.settings.keys.save, wish.name, wish.key)
        await self.client.models(refresh=True)
        return report

    async def remove_endpoint(self, name: str) -> None:
        if not await asyncio.to_thread(self.settings.endpoints.remove, name):
            raise UserError(
                f"There is no endpoint {name!r} of your own.",
                code="unknown_endpoint",
                setting="name",
            )
        await asyncio.to_thread(self.settings.keys.remove, name)

    async def save_key(self, name: str, key: str) -> None:
        """Keep the key of a vendor, an endpoint or a search engine; an empty one forgets it."""
        known = {vendor.id for vendor in self.client.endpoints().vendors}
        if name not in {*known, *SEARCH_KEYS} and self.settings.endpoint(name) is None:
            raise UserError(f"There is no vendor {name!r}.", code="unknown_vendor")
        await asyncio.to_thread(self.settings.keys.save, name, key.strip())
        await self.client.models(refresh=True)

    async def learned(self) -> api.LearnedList:
        return api.LearnedList(learned=await asyncio.to_thread(self.client.learned.all))

    async def forget(
        self, endpoint: str, *, model: str | None = None, fact: str | None = None
    ) -> None:
        await asyncio.to_thread(self.client.learned.forget, endpoint, model, fact)


def _endpoint(wish: api.EndpointCreate | api.EndpointTry) -> Endpoint:
    return Endpoint(
        name=wish.name.strip(),
        url=(wish.url or "").strip().rstrip("/"),
        dialect=wish.dialect,
        like=wish.like,
        key_env=wish.key_env,
        models=tuple(wish.models),
    )


def _report(found: EndpointTest) -> api.EndpointReport:
    return api.EndpointReport(
        ok=found.ok,
        message=found.message,
        model=found.model,
        models=list(found.models),
        thinking=found.thinking,
        duration_ms=found.duration_ms,
        error=None if found.failure is None else ErrorInfo.of(found.failure),
    )
