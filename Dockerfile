# The workspace in an image: `docker compose up --build`, see docs/deploy.md.

FROM python:3.13-slim AS build
WORKDIR /build
RUN python -m venv /opt/silu
ENV PATH=/opt/silu/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY requirements.lock requirements-node.lock ./
RUN pip install --require-hashes -r requirements.lock \
    && python -m venv --system-site-packages /opt/node \
    && /opt/node/bin/pip install --require-hashes -r requirements-node.lock
COPY pyproject.toml hatch_build.py README.md LICENSE NOTICE ./
COPY scripts scripts
COPY web web
COPY src src
# The page first, with the Node of its own lock; the wheel takes what was built along.
RUN /opt/node/bin/python scripts/webapp.py build \
    && pip install --no-deps --no-build-isolation .

FROM python:3.13-slim
# bubblewrap is the sandbox of commands, git and ripgrep are what they mostly need.
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap git ripgrep \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 silu \
    && install -d -o silu -g silu -m 700 /data
COPY --from=build /opt/silu /opt/silu
ENV PATH=/opt/silu/bin:$PATH SILU_HOME=/data PYTHONUNBUFFERED=1
USER silu
WORKDIR /data
VOLUME /data
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD \
    ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8765/api/v1/ready')"]
# Stops within the ten seconds that containers get: turns are put down and go on at the next start.
CMD ["silu", "serve", "--host", "0.0.0.0", "--port", "8765", "--no-open"]
