import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../postgres/free-port.ts";

const PROGRAM = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find(existsSync) ?? "pgbouncer";

/** With few connections, consecutive transactions of a client use different ones. */
export async function startPooler(databaseUrl: string, connections = 3): Promise<{ url: string; stop(): Promise<void> }> {
  const url = new URL(databaseUrl);
  const directory = mkdtempSync(join(tmpdir(), "keyhook-pooler-"));
  // PgBouncer refuses to run as root, and the other user must be able to enter this directory.
  chmodSync(directory, 0o755);
  const port = await freePort();
  const quoted = [url.username, decodeURIComponent(url.password)].map((text) => `"${text.replaceAll('"', '""')}"`);
  writeFileSync(join(directory, "users"), `${quoted.join(" ")}\n`);
  writeFileSync(
    join(directory, "pgbouncer.ini"),
    `[databases]
* = host=${url.hostname} port=${url.port || 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${directory}/users
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 1000
`,
  );
  const user = process.getuid?.() === 0 ? ["--user", "nobody"] : [];
  const child = spawn(PROGRAM, [...user, join(directory, "pgbouncer.ini")], { stdio: ["ignore", "ignore", "pipe"] });
  let printed = "";
  const exited = once(child, "exit");
  const listening = new Promise<void>((resolve) => {
    child.stderr.on("data", (chunk) => {
      printed += chunk;
      if (printed.includes("process up")) resolve();
    });
  });
  const ended = exited.then(() => Promise.reject(new Error(`PgBouncer did not start:\n${printed}`)));
  ended.catch(() => undefined);
  await Promise.race([listening, ended]);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  url.searchParams.delete("host");
  return {
    url: url.href,
    async stop() {
      child.kill("SIGINT");
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
