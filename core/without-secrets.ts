/** Field names that always contain a credential (S55, S130). */
const secretNames = new Set([
  "password",
  "secret",
  "client_secret",
  "token",
  "access_token",
  "refresh_token",
  "id_token",
  "subject_token",
  "actor_token",
  "code",
  "code_verifier",
  "device_code",
  "authorization",
  "cookie",
  "set-cookie",
  "x-webhook-secret",
  "webhook-signature",
  "secrets",
]);

const DEPTH = 4;

/**
 * The same value, with `[redacted]` for each field named after a credential: accidental logging must not reveal one. The value itself is
 * not changed, and copied only if something is redacted, since nearly every line has nothing to redact. (pino's own `redact` with wildcards
 * takes ten times as long as the line.)
 *
 * An error's `code`, such as ECONNREFUSED, is not a credential and stays.
 */
export function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null || value instanceof Error || depth === DEPTH) return value;
  const isError = "stack" in value;
  let copy: Record<string, unknown> | undefined;
  for (const [name, field] of Object.entries(value)) {
    const isSecret = secretNames.has(name.toLowerCase()) && !(isError && name === "code");
    const clean = isSecret ? "[redacted]" : withoutSecrets(field, depth + 1);
    if (clean === field) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = clean;
  }
  return copy ?? value;
}
