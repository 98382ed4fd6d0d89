# The page and the API, on a CPU. See docs/serve.md.
FROM python:3.11-slim

# Nothing is written when it runs, so the root may be read-only.
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1

# An index with CPU builds of torch, if the usual one brings CUDA along.
ARG PIP_EXTRA_INDEX_URL
RUN --mount=type=bind,target=/src,rw \
    pip install --no-cache-dir -c /src/constraints.txt "/src[serve]"

RUN useradd --system --no-create-home --shell /usr/sbin/nologin punct
USER punct

EXPOSE 8080
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/health', timeout=5)"]
ENTRYPOINT ["python", "-m", "spacy", "punct", "serve"]
CMD ["en", "--host", "0.0.0.0", "--access-log"]
