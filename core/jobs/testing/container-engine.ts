import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";

/** What a container was made with, as the Engine API spells it. */
export type Created = {
  Image: string;
  Entrypoint?: string[];
  Cmd?: string[];
  Env?: string[];
  User?: string;
  HostConfig: Record<string, unknown> & { Mounts?: { Source: string; Target: string; ReadOnly?: boolean }[] };
  Labels: Record<string, string>;
};

type Container = Created & {
  id: string;
  name: string;
  process?: ChildProcess;
  output?: ServerResponse;
  code?: number;
  archives: Record<string, Buffer>;
};

/**
 * A stand-in for a container engine: the part of Docker's Engine API that running a command takes, written from its documentation, over
 * a socket as the real one. What it runs it runs as a plain process: it isolates nothing.
 */
export async function startEngine({ images = ["debian:12"] } = {}) {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-engine-"));
  const socketPath = join(directory, "engine.sock");
  const containers = new Map<string, Container>();
  const volumes = new Set<string>();
  const made: Container[] = [];
  const present = new Set(images);

  const find = (name: string) => [...containers.values()].find((one) => one.id === name || one.name === name);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://engine");
    const path = url.pathname.replace(/^\/v[\d.]+/, "");
    const [, kind, name = "", action = ""] = /^\/(\w+)\/(.+?)(?:\/(json|archive|attach|start|wait|kill))?$/.exec(path) ?? [];
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const reply = (status: number, value: unknown) => {
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(value === undefined ? undefined : JSON.stringify(value));
    };
    const route = `${request.method} ${kind}${action && ` ${action}`}`;
    if (route === "GET images json") return present.has(name) ? reply(200, { Id: name }) : reply(...notThere(name));
    if (request.method === "POST" && path === "/images/create") {
      const image = `${url.searchParams.get("fromImage")}:${url.searchParams.get("tag") ?? "latest"}`.replace(
        /:latest$/,
        (tag) => (url.searchParams.get("tag") ? tag : ""),
      );
      if (image.includes("missing")) return reply(404, { message: `manifest for ${image} not found` });
      present.add(image);
      response.writeHead(200, { "content-type": "application/json" }).end('{"status":"Pulling"}\n{"status":"Done"}\n');
      return;
    }
    if (path === "/volumes/create") {
      volumes.add(JSON.parse(body.toString()).Name);
      return reply(201, {});
    }
    if (route === "DELETE volumes") return volumes.delete(name) ? reply(204, undefined) : reply(...notThere(name));
    if (path === "/containers/create") {
      const id = `c${made.length}`;
      const container: Container = {
        ...(JSON.parse(body.toString()) as Created),
        id,
        name: url.searchParams.get("name") ?? id,
        archives: {},
      };
      if (find(container.name)) return reply(409, { message: "the name is taken" });
      containers.set(id, container);
      made.push(container);
      return reply(201, { Id: id });
    }
    if (route === "GET containers json" || path === "/containers/json") {
      if (path === "/containers/json") {
        const [label = ""] = JSON.parse(url.searchParams.get("filters") ?? "{}").label ?? [];
        const [key, value] = label.split("=");
        return reply(
          200,
          [...containers.values()].filter(({ Labels }) => Labels[key] === value).map(({ id }) => ({ Id: id })),
        );
      }
    }
    const container = find(name);
    if (!container) return reply(...notThere(name));
    switch (route) {
      case "PUT containers archive":
        container.archives[url.searchParams.get("path") ?? ""] = body;
        return reply(200, undefined);
      case "POST containers attach":
        container.output = response.writeHead(200, { "content-type": "application/vnd.docker.multiplexed-stream" });
        response.flushHeaders();
        return;
      case "POST containers start":
        begin(container);
        return reply(204, undefined);
      case "POST containers wait":
        response.writeHead(200, { "content-type": "application/json" });
        if (container.code === undefined) await new Promise((resolve) => container.process?.once("close", resolve));
        response.end(JSON.stringify({ StatusCode: container.code }));
        return;
      case "GET containers json":
        return reply(200, { State: { OOMKilled: container.code === 137 && container.Env?.includes("FULL=1") } });
      case "POST containers kill":
        container.process?.kill(url.searchParams.get("signal") as NodeJS.Signals);
        return reply(204, undefined);
      case "DELETE containers":
        container.process?.kill("SIGKILL");
        containers.delete(container.id);
        return reply(204, undefined);
      default:
        return reply(501, { message: `${route} is not here` });
    }
  }

  function begin(container: Container): void {
    const [program = "", ...rest] = [...(container.Entrypoint ?? []), ...(container.Cmd ?? [])];
    const variables = Object.fromEntries(
      (container.Env ?? []).map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );
    const environment: Record<string, string> = { PATH: "/usr/bin:/bin", ...variables };
    container.process = spawn(program, rest, { env: environment as NodeJS.ProcessEnv, stdio: ["ignore", "pipe", "pipe"] });
    for (const [index, stream] of [container.process.stdout, container.process.stderr].entries()) {
      stream?.on("data", (bytes: Buffer) => {
        const header = Buffer.alloc(8);
        header.writeUInt8(index + 1, 0);
        header.writeUInt32BE(bytes.length, 4);
        // In two pieces, as a network may have it.
        container.output?.write(Buffer.concat([header, bytes]).subarray(0, 5));
        container.output?.write(Buffer.concat([header, bytes]).subarray(5));
      });
    }
    container.process.once("close", (code, signal) => {
      container.code = code ?? 128 + constants.signals[signal ?? "SIGKILL"];
      container.output?.end();
    });
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => response.writeHead(500).end(JSON.stringify({ message: error.message })));
  });
  await new Promise<void>((listening) => server.listen(socketPath, listening));
  return {
    socketPath,
    /** Every container that was made, the first first. */
    made,
    containers,
    volumes,
    stop() {
      for (const { process } of containers.values()) process?.kill("SIGKILL");
      server.closeAllConnections();
      server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const notThere = (name: string) => [404, { message: `no such thing: ${name}` }] as const;
