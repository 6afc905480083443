import { isRelayPath } from "#core/relay/relay.ts";
import type { RequestDoor } from "#core/telemetry.ts";
import { isApi, isProtocol } from "./dispatch.ts";
import { isDownload } from "./downloads.ts";

export const QUIET: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

export function doorOf(pathname: string): RequestDoor {
  if (pathname.startsWith("/_next/") || isDownload(pathname)) return "asset";
  if (isProtocol(pathname)) return "oauth";
  if (isRelayPath(pathname)) return "api";
  if (!isApi(pathname)) return "page";
  return isGit(pathname) ? "git" : "api";
}

const isGit = (pathname: string): boolean => /\/(info\/refs|git-(upload|receive)-pack)$/.test(pathname);
