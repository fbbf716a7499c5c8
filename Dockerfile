# syntax=docker/dockerfile:1
# docker build -t edgeward .
# 20 works as well. From 24.19 on, Node aborts in better-sqlite3 12, which the locks and the embedded stores need.
ARG NODE=22

# The full image has the compiler that better-sqlite3 needs where no binary of it is published.
FROM node:${NODE}-bookworm AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund && npm rebuild better-sqlite3
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/
COPY src src
# What is left of better-sqlite3 is what runs.
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
  && cd node_modules/better-sqlite3 && rm -rf deps src build/Release/obj build/Release/obj.target

FROM node:${NODE}-bookworm-slim
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
