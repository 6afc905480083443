import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { newId } from "#core/ids.ts";
import { log, requestContext } from "#core/log.ts";
import { isAppPath, parseAppTarget } from "#core/spaces/door/find-app.ts";
import { readSpaceConfig } from "#core/spaces/space-config.ts";
import { canonicalize } from "../canonicalize.ts";
import { whenClosed } from "../connections.ts";
import { paceRequest } from "../pace-request.ts";
import { parseTarget } from "../read-request.ts";
import { openApp, recheckVisit, staysOpen } from "./open-app.ts";
import { passSocketToApp } from "./pass-to-app.ts";
import type { AppFailure } from "./send-app-failure.ts";
import { failureOf } from "./serve-app.ts";

export function isAppSocket(req: IncomingMessage): boolean {
  const target = parseTarget(req.url);
  return target !== undefined && isAppPath(target.pathname);
}

const CLOSE_MS = 2_000;

export async function serveAppSocket(
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { keptMs }: { keptMs?: number } = {},
): Promise<void> {
  socket.on("error", () => socket.destroy());
  const refuse = ({ status, error, retryAfter }: Pick<AppFailure, "status" | "error" | "retryAfter">) => {
    const wait = retryAfter === undefined ? "" : `Retry-After: ${retryAfter}\r\n`;
    socket.end(`HTTP/1.1 ${status} ${error}\r\nConnection: close\r\nContent-Length: 0\r\n${wait}\r\n`);
    // Node does not close an upgraded connection whose client keeps its own end open, or still sends (S137).
    socket.resume();
    setTimeout(() => socket.destroy(), CLOSE_MS).unref();
  };
  try {
    const target = parseTarget(req.url);
    const wanted = target && parseAppTarget(target.sentPath);
    if (!target || !wanted || req.headers.upgrade?.toLowerCase() !== "websocket")
      return refuse({ status: 400, error: "invalid_request" });
    const requestId = newId();
    const ip = canonicalize(req, requestId);
    await requestContext.run({ requestId, ip, whenClosed: (listener) => whenClosed(socket, listener) }, async () => {
      const paced = paceRequest(req, socket, target.pathname);
      const refusal = paced instanceof Promise ? await paced : paced;
      if (refusal) return refuse({ ...refusal, retryAfter: refusal.retryAfterSeconds });
      if (socket.closed) return;
      const app = await openApp(req, wanted);
      if (app.kind === "elsewhere") return refuse({ status: 404, error: "not_found" });
      if (readSpaceConfig(app.repo).kind !== "service") return refuse({ status: 405, error: "invalid_request" });
      socket.once(
        "close",
        recheckVisit(staysOpen(req, wanted, app), () => socket.destroy()),
      );
      const sent = { path: app.path + target.search, ip, requestId };
      await passSocketToApp(req, socket, head, { app, sent, refuse, keptMs });
    });
  } catch (error) {
    try {
      refuse(failureOf(error));
    } catch {
      log().error({ err: error }, "a request for a WebSocket failed");
      refuse({ status: 500, error: "server_error" });
    }
  }
}
