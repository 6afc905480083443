import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type ForgeRepo, mirrored, toCloudEvent } from "./to-cloud-event.ts";

export type Settings = {
  serviceUrl: string;
  platformToken: string;
  /** The `source` of the platform in the service. */
  forgeUrl: string;
  webhookSecret: string;
  /** A token that can read all repositories. Without it the adapter knows only what webhooks report. */
  forgeToken?: string;
};

const BODY_MAX_BYTES = 4 * 1024 * 1024;
const RETRY_AFTER_MS = [500, 2_000, 5_000];

export function createAdapter(settings: Settings): Server {
  return createServer((req, res) => {
    take(settings, req).then(
      ({ status, text }) => res.writeHead(status, { "content-type": "text/plain" }).end(`${text}\n`),
      (error: unknown) => {
        console.error(error);
        res.writeHead(502).end("The service did not accept the event.\n");
      },
    );
  });
}

async function take(settings: Settings, req: IncomingMessage): Promise<{ status: number; text: string }> {
  if (req.method !== "POST") return { status: 405, text: "Send webhooks with POST." };
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_MAX_BYTES) return { status: 413, text: "Too large." };
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (!isSigned(settings.webhookSecret, body, header(req, "signature"))) return { status: 401, text: "The signature is wrong." };
  const payload = JSON.parse(body.toString("utf8"));
  const translated = toCloudEvent(header(req, "event"), payload);
  const id = header(req, "delivery");
  if (!translated || !id) return { status: 200, text: "This event is not forwarded." };
  const source = `${settings.forgeUrl}/${payload.repository.full_name}`;
  const event = {
    specversion: "1.0",
    id,
    source,
    time: new Date().toISOString(),
    ...translated,
    type: `org.forgejo.${translated.type}`,
  };
  return post(settings, "/api/events", "application/cloudevents+json", event);
}

/** Forgejo sends its headers under both names. */
const header = (req: IncomingMessage, name: string): string =>
  String(req.headers[`x-forgejo-${name}`] ?? req.headers[`x-gitea-${name}`] ?? "");

/** HMAC-SHA256 of the body, in hex. The comparison takes constant time. */
function isSigned(secret: string, body: Buffer, signature: string): boolean {
  const expected = createHmac("sha256", secret).update(body).digest();
  const given = Buffer.from(signature, "hex");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The forge never retries, so this adapter does. The service records an event only once. */
async function post(settings: Settings, path: string, type: string, body: unknown): Promise<{ status: number; text: string }> {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(settings.serviceUrl + path, {
      method: "POST",
      headers: { authorization: `Bearer ${settings.platformToken}`, "content-type": type },
      body: JSON.stringify(body),
    }).catch(() => undefined);
    const isFinal = response && response.status < 500 && response.status !== 429;
    if (isFinal) return { status: response.status, text: await response.text() };
    const wait = RETRY_AFTER_MS[attempt];
    if (wait === undefined) return { status: 502, text: "The service did not accept the event." };
    await sleep(wait);
  }
}

/** Reports all repositories, because no webhook reports a new name or visibility. The service records changes as events. */
export async function syncAll(settings: Settings): Promise<void> {
  for (let page = 1; ; page++) {
    const response = await fetch(`${settings.forgeUrl}/api/v1/repos/search?limit=50&page=${page}`, {
      headers: { authorization: `token ${settings.forgeToken}` },
    });
    if (!response.ok) throw new Error(`The forge answered ${response.status} to the list of repositories.`);
    const { data } = (await response.json()) as { data: ForgeRepo[] };
    if (data.length === 0) return;
    const repos = data.map((repo) => mirrored(repo, "id"));
    const { status, text } = await post(settings, "/api/repos/sync", "application/json", { repos, events: true });
    if (status !== 200) throw new Error(`The service answered ${status}: ${text}`);
    for (const { id, error } of JSON.parse(text).results) if (error) console.error(`repository ${id}: ${error}`);
  }
}
