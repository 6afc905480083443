import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";

type Named = { metadata: { name: string; labels?: Record<string, string> } };
export type Pod = Named & {
  // biome-ignore lint/suspicious/noExplicitAny: a request may contain anything.
  spec: any;
  process?: ChildProcess;
  output: Buffer[];
  state: Record<string, unknown>;
  phase: string;
};

/** This is the part of the Kubernetes API that runs a command in a pod. A container is a plain process. */
export async function startCluster() {
  const pods = new Map<string, Pod>();
  const secrets = new Map<string, Named & { stringData: Record<string, string> }>();
  const policies = new Map<string, Named>();
  const made: Pod[] = [];
  const madeSecrets: (Named & { stringData: Record<string, string> })[] = [];
  const cut = { next: false };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://cluster");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = text ? JSON.parse(text) : {};
    const reply = (code: number, value: unknown) => {
      response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    const status = (code: number, message: string) => reply(code, { kind: "Status", code, message });
    const [, kind = "", name = "", sub = ""] = /\/namespaces\/jobs\/(\w+)(?:\/([\w-]+))?(?:\/(\w+))?$/.exec(url.pathname) ?? [];
    if (request.headers.authorization !== "Bearer of-the-service") return status(401, "Unauthorized");
    const all: Map<string, Named> | undefined = { pods, secrets, networkpolicies: policies }[kind] as
      | Map<string, Named>
      | undefined;
    if (!all) return status(404, "no such kind");
    if (request.method === "POST") {
      if (all.has(body.metadata.name)) return status(409, "already exists");
      if (kind === "pods") begin(body);
      else all.set(body.metadata.name, body);
      if (kind === "secrets") madeSecrets.push(body);
      return reply(201, body);
    }
    if (request.method === "GET" && !name) {
      const wanted = (url.searchParams.get("labelSelector") ?? "").split("=") as [string, string];
      const found = [...all.values()].filter(({ metadata }) => metadata.labels?.[wanted[0]] === wanted[1]);
      const isPartial = request.headers.accept?.includes("as=PartialObjectMetadataList");
      return reply(200, { items: isPartial ? found.map(({ metadata }) => ({ metadata })) : found });
    }
    const found = all.get(name);
    if (!found) return status(404, `${name} not found`);
    if (request.method === "PUT") {
      all.set(name, body);
      return reply(200, body);
    }
    if (request.method === "DELETE") {
      const pod = pods.get(name);
      if (kind === "pods" && pod?.process?.exitCode === null) end(pod, Number(url.searchParams.get("gracePeriodSeconds") ?? 30));
      else all.delete(name);
      return reply(200, found);
    }
    const pod = found as Pod;
    if (sub === "log") return sendLog(pod, response);
    const containerStatuses = [{ name: "job", image: "", imageID: "", ready: true, restartCount: 0, state: pod.state }];
    return reply(200, { metadata: pod.metadata, status: { phase: pod.phase, containerStatuses } });
  }

  function begin(sent: Pod): void {
    const pod: Pod = { ...sent, output: [], state: { waiting: { reason: "ContainerCreating" } }, phase: "Pending" };
    pods.set(pod.metadata.name, pod);
    made.push(pod);
    const [container] = pod.spec.containers;
    if (container.image.includes("missing")) {
      pod.state = { waiting: { reason: "ImagePullBackOff", message: "not found" } };
      return;
    }
    const environment: Record<string, string> = { PATH: "/usr/bin:/bin" };
    for (const { name, value, valueFrom } of container.env) {
      environment[name] = value ?? secrets.get(valueFrom.secretKeyRef.name)?.stringData[valueFrom.secretKeyRef.key] ?? "";
    }
    // A cluster expands these variables in a command.
    const expanded = (word: string) =>
      word.replace(/\$(?:\$|\((\w+)\))/g, (found, name) => (found === "$$" ? "$" : (environment[name] ?? found)));
    const [program = "", ...rest] = container.command.map(expanded);
    pod.process = spawn(program, rest, { env: environment as NodeJS.ProcessEnv, stdio: ["ignore", "pipe", "pipe"] });
    pod.state = { running: {} };
    pod.phase = "Running";
    for (const stream of [pod.process.stdout, pod.process.stderr]) stream?.on("data", (bytes: Buffer) => pod.output.push(bytes));
    pod.process.once("close", (code, signal) => {
      const exitCode = code ?? 128 + constants.signals[signal ?? "SIGKILL"];
      pod.state = { terminated: { exitCode, reason: environment.FULL ? "OOMKilled" : "Completed" } };
      pod.phase = exitCode === 0 ? "Succeeded" : "Failed";
    });
  }

  function end(pod: Pod, seconds: number): void {
    pod.process?.kill(seconds === 0 ? "SIGKILL" : "SIGTERM");
    setTimeout(() => pod.process?.kill("SIGKILL"), seconds * 1_000).unref();
    pod.process?.once("close", () => pods.delete(pod.metadata.name));
  }

  async function sendLog(pod: Pod, response: ServerResponse): Promise<void> {
    response.writeHead(200, { "content-type": "text/plain" });
    response.flushHeaders();
    for (let sent = 0; ; ) {
      const isOver = pod.state.terminated !== undefined;
      while (sent < pod.output.length) {
        response.write(pod.output[sent++]);
        if (cut.next) {
          cut.next = false;
          setTimeout(() => response.destroy(), 20);
          return;
        }
      }
      if (isOver) break;
      await new Promise((later) => setTimeout(later, 20));
    }
    response.end();
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => response.writeHead(500).end(error.message));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const directory = mkdtempSync(join(tmpdir(), "keyhook-cluster-"));
  const config = join(directory, "config");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const named = [
    ["clusters", "cluster", { server: address, "insecure-skip-tls-verify": true }],
    ["users", "user", { token: "of-the-service" }],
    ["contexts", "context", { cluster: "here", user: "here" }],
  ] as const;
  const sections = Object.fromEntries(named.map(([section, key, value]) => [section, [{ name: "here", [key]: value }]]));
  writeFileSync(config, JSON.stringify({ apiVersion: "v1", kind: "Config", "current-context": "here", ...sections }));
  return {
    config,
    made,
    madeSecrets,
    pods,
    secrets,
    policies,
    cut,
    stop() {
      for (const { process } of pods.values()) process?.kill("SIGKILL");
      server.closeAllConnections();
      server.close();
    },
    unconfigure() {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
