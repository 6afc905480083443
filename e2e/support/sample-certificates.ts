import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../..");

/** A spec that blocks a whole host must not affect other specs. Linux responds on every address of 127.0.0.0/8. */
export const OTHER_HOST = "127.0.0.2";

/** @returns the directory of the certificate, and the file for NODE_EXTRA_CA_CERTS that makes the service trust it */
export async function makeOtherCertificate(parent: string): Promise<{ directory: string; trustedPath: string }> {
  const directory = join(parent, "other-certificate");
  const env = { ...process.env, CERTIFICATE_DIR: directory, SITE_HOST: OTHER_HOST };
  const command = ["examples/metadata-document-site/make-certificate.ts"];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, env });
  const trustedPath = join(directory, "trusted.pem");
  const existing = process.env.NODE_EXTRA_CA_CERTS ? readFileSync(process.env.NODE_EXTRA_CA_CERTS, "utf8") : "";
  writeFileSync(trustedPath, `${existing.trimEnd()}\n${readFileSync(stdout.trim(), "utf8")}`);
  return { directory, trustedPath };
}
