# syntax=docker/dockerfile:1
# docker build -t edgeward .
# Both images are the same Node, by digest: docs/operators.md says where digests come from, and how they are renewed.
# 22 and 26 work as well (--build-arg, both images); 20 does not here, where nothing is compiled.
ARG NODE_IMAGE=node:24.19.0-bookworm@sha256:da4221677e02b54ef6335adfa447578d512ad14f251024fb92ea433c2c102760
ARG NODE_SLIM_IMAGE=node:24.19.0-bookworm-slim@sha256:cd84903a12dbd26b46f1f3b8144a2568c41c5d37ddd0c7a80a34c7a19786b35f

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/
COPY src src
# What is left of better-sqlite3 is what runs.
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/better-sqlite3-node-20 node_modules/better-sqlite3/deps node_modules/better-sqlite3/src

FROM ${NODE_SLIM_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
# Root's, so that the service can't change its own program.
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
RUN ln -s /app/dist/main.js /usr/local/bin/edgeward && install -d -o node -g node -m 0700 /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["edgeward"]
CMD ["serve"]
