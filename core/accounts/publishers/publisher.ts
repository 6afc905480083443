import type { Prisma } from "../../generated/prisma/client.ts";
import type { Claims } from "./preset.ts";
import { isPresetName, type PresetName, presets } from "./presets.ts";

export type TrustedPublisher = {
  id: string;
  preset: PresetName;
  issuer: string;
  claims: Claims;
  /** Claims that were recorded on first use (S100). */
  pinned: Claims;
  /** Null if the operator's command set it up. */
  createdById: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  lastRefusal: { at: Date; reason: string } | null;
};

export const publisherColumns = {
  id: true,
  preset: true,
  issuer: true,
  claims: true,
  pinned: true,
  createdById: true,
  createdAt: true,
  lastUsedAt: true,
  lastRefusal: true,
  lastRefusedAt: true,
} as const satisfies Prisma.TrustedPublisherSelect;

type Row = Prisma.TrustedPublisherGetPayload<{ select: typeof publisherColumns }>;

export function toPublisher(row: Row): TrustedPublisher {
  const { id, preset, issuer, claims, pinned, createdById, createdAt, lastUsedAt, lastRefusal, lastRefusedAt } = row;
  return {
    id,
    preset: isPresetName(preset) ? preset : "oidc",
    issuer,
    claims: claims as Claims,
    pinned: pinned as Claims,
    createdById,
    createdAt,
    lastUsedAt,
    lastRefusal: lastRefusal !== null && lastRefusedAt ? { at: lastRefusedAt, reason: lastRefusal } : null,
  };
}

export function pipelineOf({ preset, claims }: Pick<TrustedPublisher, "preset" | "claims">): string {
  const { label, run } = presets[preset];
  // JSONB sorts claims by the length of their names, so the first one is often the branch, which is not shown.
  const names = [...run.slice(0, 1), ...Object.keys(claims)].filter((name) => !["ref", "environment", "sub"].includes(name));
  const name = names.find((one) => Object.hasOwn(claims, one));
  return (name && claims[name]) ?? label;
}

/** A job has no user (docs/specification/organizations-and-tokens.md#trusted-publishers). */
export function publisherName(preset: PresetName): string {
  return `${preset === "oidc" ? "CI" : presets[preset].label} [OIDC]`;
}
