import { X509Certificate } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { generate } from "selfsigned";

export type Certificate = {
  cert: string;
  key: string;
  /** The path for NODE_EXTRA_CA_CERTS of programs that should trust this certificate. */
  path: string;
};

const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_DAYS = 90;

/** Only this machine has a reason to trust this certificate. A site on the web gets one from a certificate authority. */
export async function readCertificate(directory: string, host: string): Promise<Certificate> {
  const path = join(directory, "certificate.pem");
  const keyPath = join(directory, "key.pem");
  const kept = read(path, keyPath, host) ?? (await make(host));
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, kept.cert);
  writeFileSync(keyPath, kept.key, { mode: 0o600 });
  chmodSync(keyPath, 0o600);
  return { ...kept, path };
}

function read(path: string, keyPath: string, host: string): Omit<Certificate, "path"> | undefined {
  try {
    const [cert, key] = [readFileSync(path, "utf8"), readFileSync(keyPath, "utf8")];
    const certificate = new X509Certificate(cert);
    const isForHost = (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
    return isForHost && Date.parse(certificate.validTo) > Date.now() + DAY_MS ? { cert, key } : undefined;
  } catch {
    return undefined;
  }
}

async function make(host: string): Promise<Omit<Certificate, "path">> {
  const { cert, private: key } = await generate([{ name: "commonName", value: host }], {
    keyType: "ec",
    algorithm: "sha256",
    notAfterDate: new Date(Date.now() + LIFETIME_DAYS * DAY_MS),
    extensions: [
      // This is not the certificate of an authority, so that somebody who steals the key cannot impersonate other hosts.
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectAltName", altNames: [isIP(host) ? { type: 7, ip: host } : { type: 2, value: host }] },
    ],
  });
  return { cert, key };
}
