# vault-index in a container. docs/getting-started.md has the commands.
FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates python3-venv
RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install --no-cache-dir "uv>=0.13"
COPY . /source
WORKDIR /source
# Exactly the versions of uv.lock, each checked by its hash.
RUN UV_PROJECT_ENVIRONMENT=/opt/vault-index /opt/uv/bin/uv sync --locked --no-cache --no-editable --compile-bytecode

FROM debian:trixie-slim
RUN apt-get update && apt-get install --yes --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 1000 --create-home vault && install --directory --owner vault --mode 700 /data
COPY --from=build /opt/vault-index /opt/vault-index
ENV PATH=/opt/vault-index/bin:/usr/bin:/bin VAULT_INDEX_HOME=/data
USER vault
# Configuration, index, cache and state. The vault is mounted at /vault, read-only.
VOLUME /data
HEALTHCHECK --start-period=60s CMD vault-index status --json | grep -q '"running": *true'
ENTRYPOINT ["vault-index"]
CMD ["watch"]
