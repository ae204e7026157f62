# One node of the hall. The store is another container (compose.yaml), so nothing in here needs to be kept.

# The full image has a C compiler, so the wheel carries the search kernels of the expert level.
FROM python:3.13 AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE hatch_build.py ./
COPY engine engine
COPY protocol protocol
COPY server server
COPY clients clients
COPY wording wording
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 fudaza
COPY requirements.lock /tmp/requirements.lock
RUN pip install --no-cache-dir --require-hashes -r /tmp/requirements.lock
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-deps /wheels/*.whl

USER fudaza
ENV FUDAZA_HOST=0.0.0.0 FUDAZA_PORT=8750 FUDAZA_LOG_FORMAT=json
EXPOSE 8750
# Signals reach the server itself, so that `docker stop` is an orderly end.
ENTRYPOINT ["python", "-m", "server"]
