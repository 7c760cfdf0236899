"""How to reach a host: proxies from the environment, as a pure function of it."""

import ipaddress
from urllib.parse import urlsplit

from silu.config import Environment
from silu.types.errors import UserError


def proxy_for(url: str, env: Environment) -> str | None:
    """The proxy for a URL by `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` (either
    case). Loopback is never sent through one."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if _is_loopback(host) or _exempt(host, parts.port, _either(env, "NO_PROXY") or ""):
        return None
    return _either(env, f"{parts.scheme.upper()}_PROXY") or _either(env, "ALL_PROXY")


def http_proxy(proxy: str | None) -> str | None:
    """A proxy as the HTTP client takes it; `UserError` for one of another kind."""
    if not proxy or proxy.startswith(("http://", "https://")):
        return proxy or None
    if "://" in proxy:
        raise UserError(
            "Only http and https proxies are supported.",
            code="bad_config",
            setting="proxy",
            fix="Set HTTPS_PROXY, or the endpoint's proxy, to one of these.",
        )
    return f"http://{proxy}"


def _either(env: Environment, name: str) -> str | None:
    return env.get(name.lower()) or env.get(name)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def _exempt(host: str, port: int | None, rules: str) -> bool:
    return any(_matches(host, port, rule.strip().lower()) for rule in rules.split(","))


def _matches(host: str, port: int | None, rule: str) -> bool:
    """One entry of `NO_PROXY`: `*`, a host, a domain with or without a dot, a network, a port."""
    if rule in {"", "*"}:
        return rule == "*"
    name, colon, number = rule.rpartition(":")
    if colon and number.isdigit() and "]" not in number and name.count(":") == 0:
        return port == int(number) and _matches(host, None, name)
    address = _address(host)
    if address is not None:
        try:
            return address in ipaddress.ip_network(rule.strip("[]"), strict=False)
        except ValueError:
            return False
    domain = rule.lstrip("*").lstrip(".")
    return host == domain or host.endswith(f".{domain}")


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
