import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type ImageConfig = { Volumes?: Record<string, object>; Env?: string[]; Entrypoint?: string[]; Cmd?: string[] };

export async function startRegistry() {
  const blobs = new Map<string, Buffer>();
  const manifests = new Map<string, string>();
  const asked: string[] = [];
  const keep = (content: Buffer): string => {
    const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
    blobs.set(digest, content);
    return digest;
  };

  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    if (/^\/v2\/$/.test(path)) return void response.end("{}");
    const [, name, kind, reference = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
    const digest = kind === "manifests" ? (manifests.get(`${name}:${reference}`) ?? reference) : reference;
    const content = blobs.get(digest);
    if (!content) {
      const errors = [{ code: "MANIFEST_UNKNOWN", message: "secret words of a private server" }];
      return void response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ errors }));
    }
    const type = kind === "manifests" ? MANIFEST : "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-length": content.length, "docker-content-digest": digest });
    response.end(request.method === "HEAD" ? undefined : content);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));

  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    push(name: string, tag: string, directory: string, config: ImageConfig = {}): string {
      const { stdout: layer } = spawnSync("tar", ["-C", directory, "--owner=0", "--group=0", "-cf", "-", "."], {
        maxBuffer: 1024 ** 3,
      });
      const layerDigest = keep(layer);
      const architecture = { x64: "amd64" }[process.arch as string] ?? process.arch;
      const described = { architecture, os: "linux", config, rootfs: { type: "layers", diff_ids: [layerDigest] } };
      const configuration = Buffer.from(JSON.stringify(described));
      const manifest = {
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: {
          mediaType: "application/vnd.oci.image.config.v1+json",
          size: configuration.length,
          digest: keep(configuration),
        },
        layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", size: layer.length, digest: layerDigest }],
      };
      const digest = keep(Buffer.from(JSON.stringify(manifest)));
      manifests.set(`${name}:${tag}`, digest);
      return digest;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
