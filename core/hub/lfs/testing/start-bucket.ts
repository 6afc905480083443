import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import S3rver from "s3rver";
import { provideSettings } from "../../../env.ts";
import { isSigned } from "./is-signed.ts";

/** Like simple S3 services, has neither SHA-256 checksums nor conditional requests. */
export type TestBucket = {
  origin: string;
  settings: Record<string, string>;
  asked: string[];
  intercept(look: ((req: IncomingMessage, res: ServerResponse) => boolean) | undefined): void;
  stop(): Promise<void>;
};

const BUCKET = "large-files";
const KEY = { LFS_S3_ACCESS_KEY_ID: "S3RVER", LFS_S3_SECRET_ACCESS_KEY: "S3RVER" };

export async function startBucket(): Promise<TestBucket> {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-bucket-"));
  const options = { directory, silent: true, resetOnClose: false, allowMismatchedSignatures: false };
  const s3rver = new S3rver({ ...options, configureBuckets: [{ name: BUCKET, configs: [] }] });
  await s3rver.configureBuckets();
  const answer = s3rver.callback();
  const asked: string[] = [];
  let look: Parameters<TestBucket["intercept"]>[0];
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url?.split("?")[0]}`);
    if (look?.(req, res)) return;
    if (isSigned(req, KEY.LFS_S3_SECRET_ACCESS_KEY)) answer(req, res);
    else res.writeHead(403).end("<Error><Code>SignatureDoesNotMatch</Code></Error>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const settings = { LFS_STORAGE: "s3", LFS_S3_ENDPOINT: origin, LFS_S3_BUCKET: BUCKET, ...KEY };
  provideSettings(settings);
  return {
    origin,
    settings,
    asked,
    intercept: (next) => {
      look = next;
    },
    stop: async () => {
      provideSettings({ LFS_STORAGE: "local" });
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
