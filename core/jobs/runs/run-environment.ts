import { z } from "zod";
import { env } from "../../env.ts";
import type { Flavor } from "../flavors.ts";

/** The kernel's limit for one variable, including the name, `=` and the final zero byte (S133). */
const VARIABLE_MAX_BYTES = 131_072;

const payloadSchema = z.object({
  repo: z.object({ id: z.string(), type: z.string(), name: z.string() }).partial().optional(),
});

type RunInput = {
  id: string;
  flavor: Flavor;
  spec: { environment: Readonly<Record<string, string>> };
  secrets: Readonly<Record<string, string>>;
  payload: string | null;
  deliveryId: string | null;
};

export function runEnvironment({ id, flavor, spec, secrets, payload, deliveryId }: RunInput): {
  environment: Record<string, string>;
  note: string | undefined;
} {
  const environment: Record<string, string> = {
    JOB_ID: id,
    CPU_CORES: String(flavor.cpus),
    MEMORY: `${flavor.memoryBytes / 1024 ** 3}Gi`,
    HF_ENDPOINT: env().ORIGIN,
    ...spec.environment,
    ...secrets,
  };
  if (payload === null) return { environment, note: undefined };
  const { repo } = payloadSchema.parse(JSON.parse(payload));
  if (repo?.id) environment.WEBHOOK_REPO_ID = repo.id;
  if (repo?.type) environment.WEBHOOK_REPO_TYPE = repo.type;
  if (deliveryId) environment.WEBHOOK_ID = deliveryId;
  const bytes = Buffer.byteLength(`WEBHOOK_PAYLOAD=${payload}`) + 1;
  if (bytes <= VARIABLE_MAX_BYTES) {
    environment.WEBHOOK_PAYLOAD = payload;
    return { environment, note: undefined };
  }
  return {
    environment,
    note: `The payload has ${Buffer.byteLength(payload).toLocaleString("en")} bytes, more than a variable can hold: WEBHOOK_PAYLOAD is not set. Read the file that WEBHOOK_PAYLOAD_FILE names.`,
  };
}
