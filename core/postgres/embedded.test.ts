import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type EmbeddedServer, findEmbedded, startEmbedded } from "./embedded.ts";
import { findPostmaster } from "./postmaster.ts";

function directory(mode = 0o711): string {
  const made = mkdtempSync(join(tmpdir(), "keyhook-embedded-"));
  chmodSync(made, mode);
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function start(dataDir: string): Promise<EmbeddedServer> {
  const server = await startEmbedded(dataDir, { isDurable: false });
  onTestFinished(() => server.stop());
  return server;
}

async function ask<Value>(url: string, sql: string): Promise<Value> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query({ text: sql, rowMode: "array" });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

describe("the embedded database", () => {
  it("keeps its data and its password from one start to the next", async () => {
    const dataDir = directory();
    const first = await start(dataDir);
    await ask(first.ownerUrl, "create table kept (id int)");
    await ask(first.superuserUrl, "drop role keyhook_service");
    await first.stop();
    await first.exited;
    const second = await start(dataDir);
    expect(await ask(second.ownerUrl, "select count(*)::int from kept")).toBe(0);
    for (const as of ["url", "ownerUrl"] as const) expect(new URL(second[as]).password).toBe(new URL(first[as]).password);
    expect(new URL(first.url).password).not.toBe(new URL(first.ownerUrl).password);
  });

  it("has URLs that use a Unix socket in its directory, or TCP if the socket's path would be too long", async () => {
    const dataDir = directory();
    const short = await start(dataDir);
    expect(await ask(short.url, "select inet_client_addr()")).toBeNull();
    expect(await ask(findEmbedded(dataDir)?.ownerUrl ?? "", "select inet_client_addr()")).toBeNull();
    const deep = join(directory(), "x".repeat(90));
    mkdirSync(deep, { mode: 0o711 });
    expect(await ask((await start(deep)).url, "select inet_client_addr()")).toBe("127.0.0.1");
    const link = join(directory(), "link");
    symlinkSync(deep, link);
    expect(await ask(findEmbedded(link)?.url ?? "", "select inet_client_addr()")).toBe("127.0.0.1");
  });

  it("uses TCP if the file system has no sockets", async () => {
    const dataDir = directory();
    await (await start(dataDir)).stop();
    for (let port = 20_000; port < 32_000; port++) mkdirSync(join(dataDir, "postgres", `.s.PGSQL.${port}.lock`));
    expect(await ask((await start(dataDir)).url, "select inet_client_addr()")).toBe("127.0.0.1");
  });

  it("runs below a directory that only its owner may enter, as after cloning into `mktemp -d` as root", async () => {
    const dataDir = join(directory(0o700), "data");
    mkdirSync(dataDir, { mode: 0o700 });
    const { url, pid } = await start(dataDir);
    expect(await ask(url, "select 1")).toBe(1);
    if (process.platform !== "linux" || process.getuid?.() !== 0) return;
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    expect(status).not.toMatch(/^Uid:\s+0\s/m);
    for (const set of ["CapEff", "CapPrm", "CapBnd"]) expect(status).toMatch(new RegExp(`^${set}:\\s+0*2$`, "m"));
  });

  it("stops the server that a killed supervisor left behind, and starts its own", async () => {
    const dataDir = directory();
    const left = await start(dataDir);
    const next = await start(dataDir);
    await left.exited;
    expect(next.pid).not.toBe(left.pid);
    expect(await ask(next.url, "select 1")).toBe(1);
  });

  it("recovers after SIGKILL, on the same port", async () => {
    const dataDir = directory();
    const killed = await startEmbedded(dataDir);
    await ask(killed.ownerUrl, "create table kept as select 42 as answer");
    process.kill(killed.pid, "SIGKILL");
    await killed.exited;
    const next = await startEmbedded(dataDir, { preferredPort: killed.port });
    onTestFinished(() => next.stop());
    expect(next.port).toBe(killed.port);
    expect(await ask(next.ownerUrl, "select answer from kept")).toBe(42);
  });

  it("runs side by side with another one", async () => {
    const [one, other] = [await start(directory()), await start(directory())];
    expect(one.port).not.toBe(other.port);
    await ask(one.ownerUrl, "create table only_here (id int)");
    await expect(ask(other.ownerUrl, "select * from only_here")).rejects.toThrow("does not exist");
  });

  it("is found by others while it runs, and only then", async () => {
    const dataDir = directory();
    expect(findEmbedded(dataDir)).toBeUndefined();
    const server = await start(dataDir);
    expect(findEmbedded(dataDir)).toEqual({ url: server.url, ownerUrl: server.ownerUrl });
    await server.stop();
    expect(findEmbedded(dataDir)).toBeUndefined();
    expect(findPostmaster(join(dataDir, "postgres"))).toBeUndefined();
  });

  it("starts again after its first start was interrupted", async () => {
    const dataDir = directory();
    mkdirSync(join(dataDir, "postgres.unfinished", "base"), { recursive: true });
    const { url } = await start(dataDir);
    expect(await ask(url, "select 1")).toBe(1);
  });
});

describe("an embedded database that runs", () => {
  let dataDir: string;
  let server: EmbeddedServer;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "keyhook-embedded-"));
    chmodSync(dataDir, 0o711);
    server = await startEmbedded(dataDir, { isDurable: false });
    return async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true });
    };
  });

  it("sorts in the same way on every machine, and uses UTC", async () => {
    const { url } = server;
    expect(await ask(url, "select datlocale from pg_database where datname = current_database()")).toBe("C.UTF-8");
    expect(await ask(url, "show timezone")).toBe("UTC");
    expect(await ask(url, "select upper('ä')")).toBe("Ä");
  });

  it("admits the service only with its password, as a role that cannot read files or start programs", async () => {
    const { url, superuserUrl } = server;
    await expect(ask(url.replace(/:[^:@]+@/, ":wrong@"), "select 1")).rejects.toThrow("password authentication failed");
    await expect(ask(superuserUrl.replace(/:[^:@]+@/, "@"), "select 1")).rejects.toThrow();
    await expect(ask(url, "select pg_read_file('/etc/passwd')")).rejects.toThrow("permission denied");
    await expect(ask(url, "copy (select 1) to program 'true'")).rejects.toThrow("permission denied");
  });

  it("listens on no other address than 127.0.0.1", async () => {
    const { port } = server;
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((each) => each?.family === "IPv4" && !each.internal);
    if (!outside) return;
    const refused = await new Promise<string>((resolve) => {
      const socket = connect(port, outside.address, () => resolve("connected"));
      socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"));
    });
    expect(refused).toBe("ECONNREFUSED");
  });

  it("does not let other users of the machine read its password", async () => {
    for (const file of ["postgres-password", "postgres-service-password"])
      expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, "postgres")).mode & 0o077).toBe(0);
  });

  it("has a capability only if it needs one", async () => {
    if (process.platform !== "linux" || process.getuid?.() !== 0) return;
    // The server needs the capability only if other users may not enter the directories above the checkout.
    const { pid } = server;
    const effective = readFileSync(`/proc/${pid}/status`, "utf8").match(/^CapEff:\s+(\w+)$/m)?.[1];
    const isCheckoutOpen = import.meta.dirname
      .split("/")
      .every((_, at, all) => (statSync(all.slice(0, at + 1).join("/") || "/").mode & 1) === 1);
    expect(Number.parseInt(effective ?? "", 16)).toBe(isCheckoutOpen ? 0 : 2);
  });
});
