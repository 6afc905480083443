import type { IncomingMessage, ServerResponse } from "node:http";
import { KEYS_CACHED_SECONDS } from "./keys.ts";
import { methodsOf, REGISTRATION, RESOURCE_METADATA } from "./protocol-routes.ts";
import { handleRegistration } from "./registration/handle-registration.ts";
import { resourceMetadata } from "./resources/resource-metadata.ts";

/** The protocol endpoints that the engine does not handle. All are for programs and may be called from any page (S53). */
export type OwnEndpoint = (req: IncomingMessage, res: ServerResponse, clientAddress: string) => Promise<void> | void;

export function findOwnEndpoint(path: string): OwnEndpoint | undefined {
  if (path === RESOURCE_METADATA) return openToPages(path, answerResourceMetadata);
  if (path === REGISTRATION || path.startsWith(`${REGISTRATION}/`)) return openToPages(path, handleRegistration);
  return undefined;
}

const PREFLIGHT_SECONDS = 3600;

function openToPages(path: string, endpoint: OwnEndpoint): OwnEndpoint {
  return (req, res, clientAddress) => {
    res.setHeader("Access-Control-Allow-Origin", "*");
    if (req.method !== "OPTIONS") {
      res.setHeader("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After, X-Request-Id");
      return endpoint(req, res, clientAddress);
    }
    const headers = {
      "Access-Control-Allow-Methods": methodsOf(path)?.join(", "),
      "Access-Control-Allow-Headers": "Authorization, Content-Type, MCP-Protocol-Version",
      "Access-Control-Max-Age": PREFLIGHT_SECONDS,
    };
    res.writeHead(204, headers).end();
  };
}

const answerResourceMetadata: OwnEndpoint = (_req, res) => {
  res.setHeader("Cache-Control", `public, max-age=${KEYS_CACHED_SECONDS}`);
  res.writeHead(200, { "Content-Type": "application/json; charset=utf-8" }).end(JSON.stringify(resourceMetadata()));
};
