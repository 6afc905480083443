import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from "jose";
import { onTestFinished } from "vitest";
import { claimRows } from "#core/postgres/leased-table.ts";
import { deliverLogoutNotice } from "../logout/deliver-logout-notice.ts";
import { endEngineSessions, logoutNoticeTable, type QueuedLogoutNotice } from "../logout/queue-logout-notices.ts";

/** Verifies notices as an app must (Back-Channel Logout §2.6). */
export async function startReceiver(origin: string, statuses: number[] = []) {
  const keys = createRemoteJWKSet(new URL(`${origin}/oauth/jwks`));
  const told: JWTPayload[] = [];
  const seen = { requests: 0, contentType: "" };
  const server = createServer(async (req, res) => {
    seen.requests++;
    seen.contentType = req.headers["content-type"] ?? "";
    let body = "";
    for await (const piece of req) body += piece;
    const status = statuses.shift() ?? 200;
    if (status === 200) {
      const token = new URLSearchParams(body).get("logout_token") ?? "";
      const { payload } = await jwtVerify(token, keys, {
        issuer: origin,
        typ: "logout+jwt",
        requiredClaims: ["iat", "jti", "exp"],
      });
      told.push(payload);
    }
    res.writeHead(status, { location: "/elsewhere" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/logged-out`, told, seen };
}

export async function startSlowReceiver() {
  const waiting: (() => void)[] = [];
  let isSlow = true;
  const server = createServer((_req, res) => {
    const answer = () => void res.writeHead(200).end();
    if (isSlow) waiting.push(answer);
    else answer();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const letGo = () => {
    isSlow = false;
    for (const answer of waiting) answer();
  };
  return { uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/logged-out`, waiting, letGo };
}

export async function work(): Promise<void> {
  while (await endEngineSessions());
  const { claimId, rows } = await claimRows<QueuedLogoutNotice>(logoutNoticeTable, 50);
  for (const row of rows) await deliverLogoutNotice(row, claimId);
}
