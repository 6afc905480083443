# One image for the web process, the worker, both, and the operator's command:
#   docker build -t keyhook .
#   docker run -p 3000:3000 -v keyhook:/data keyhook                         both, with the embedded database
#   docker run … keyhook node supervisor.ts --only web                      one of them, with DATABASE_URL
#   docker run --rm -v keyhook:/data keyhook node scripts/admin.ts doctor   the operator's command
# It contains what the service needs at run time, and no build tools (docs/decisions/101-a-small-image.md).
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS system
# git stores the repositories. bubblewrap runs jobs if the host lets containers create user namespaces. restic stores backups. tini runs as
# PID 1, which has to reap orphaned processes.
RUN apt-get update \
 && apt-get install -y --no-install-recommends binutils bubblewrap ca-certificates git restic tini \
 # Node's symbols are an eighth of its size, and only debuggers use them. Debian strips its own programs too.
 && strip /usr/local/bin/node && apt-get purge -y --auto-remove binutils \
 # Only git's commands for mail, Subversion and the like are written in Perl. Debian's own programs need only perl-base, which stays.
 && dpkg --purge --force-depends $(dpkg-query --show --showformat '${Package}\n' perl perl-modules-* libperl5.* liberror-perl 2> /dev/null) \
 # The service uses none of the git programs that are deleted here. All other git programs become links to one file.
 && cd /usr/lib/git-core && rm git-daemon git-http-backend git-http-push git-imap-send git-shell scalar ../../bin/git-shell ../../bin/scalar \
 && ln -sf ../lib/git-core/git /usr/bin/git \
 && apt-get clean \
 # The Node image contains npm, Yarn and headers, which only builds need.
 && rm -rf /opt/yarn* /usr/local/include /usr/local/lib/node_modules /usr/local/share/doc /usr/local/share/man \
      /usr/local/bin/corepack /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/yarn /usr/local/bin/yarnpkg \
      /usr/share/doc /usr/share/info /usr/share/locale /usr/share/man /var/cache/debconf /var/lib/apt/lists /var/log /tmp/* \
 && mkdir -p /var/lib/apt/lists/partial /var/log \
 # No program may run with more rights than the user who starts it (setuid, setgid).
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
 && mkdir /data && chown node:node /data

FROM ${NODE_IMAGE} AS build
# Your own npm registry, and a file of the base image with the certificates that the registry needs. Only this stage knows them:
#   docker build --build-arg NPM_CONFIG_REGISTRY --build-arg NODE_EXTRA_CA_CERTS …
ARG NPM_CONFIG_REGISTRY
ARG NODE_EXTRA_CA_CERTS
WORKDIR /build
COPY . .
# NODE_ENV is empty, because npm would omit development dependencies in production, and the build needs them. With CI, Next writes no source maps.
ENV NODE_ENV= CI=1 NEXT_TELEMETRY_DISABLED=1
RUN node scripts/setup.mjs --build
COPY --from=system /usr/lib/os-release /var/lib/dpkg/status /system/
RUN node scripts/image/collect.ts /app \
 && npm sbom --package-lock-only --sbom-format cyclonedx | node scripts/image/write-sbom.ts /system /app > /app/sbom.cdx.json

# Copies the first stage into one new layer: that stage's own layers still contain the deleted files.
FROM scratch
COPY --from=system / /
COPY --from=build /app /app
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 DATA_DIR=/data PORT=3000 WORKER_HEALTH_PORT=3001
WORKDIR /app
# This is the ID of the user `node`, because Kubernetes cannot resolve names.
USER 1000:1000
VOLUME /data
EXPOSE 3000
# Checks the web process, or, if a worker runs alone, the worker on WORKER_HEALTH_PORT.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["node", "-e", "const at = (port) => fetch(`http://127.0.0.1:${port}/healthz`); at(process.env.PORT).catch(() => at(process.env.WORKER_HEALTH_PORT)).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--"]
CMD ["node", "supervisor.ts"]
