import { once } from "node:events";
import { createServer } from "node:net";

export async function findFreePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    // The ports are below the range that systems assign to outgoing connections.
    const first = 10_000 + Math.floor(Math.random() * 20_000);
    const ports = Array.from({ length: count }, (_, at) => first + at);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first;
  }
  throw new Error(`No ${count} free ports in a row.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port);
  try {
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
