import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";
import { childEnvironment, env } from "#core/env.ts";

const ROOT = resolve(import.meta.dirname, "../..");

type SampleCertificate = {
  directory: string;
  /** The value for NODE_EXTRA_CA_CERTS. The file also has the certificates that the variable already names. */
  trustedPath: string;
};

/** Must be called before the service starts, because the service reads its trusted certificates at its start. */
export async function makeSampleCertificate(): Promise<SampleCertificate> {
  const directory = join(env().DATA_DIR, "sample-certificate");
  const environment = childEnvironment({ CERTIFICATE_DIR: directory });
  const command = ["examples/metadata-document-site/make-certificate.ts"];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, env: environment });
  const path = stdout.trim();
  const certificate = readFileSync(path, "utf8");
  setDefaultCACertificates([...getCACertificates("default"), certificate]);
  const { NODE_EXTRA_CA_CERTS: given } = environment;
  if (!given) return { directory, trustedPath: path };
  const trustedPath = join(directory, "trusted.pem");
  writeFileSync(trustedPath, `${readFileSync(given, "utf8").trimEnd()}\n${certificate}`);
  return { directory, trustedPath };
}
