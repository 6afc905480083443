import { type PresetName, presets } from "./presets.ts";

/** Who a job's commits are from, for want of a person (docs/specification/organizations-and-tokens.md#trusted-publishers). */
export function publisherName(preset: PresetName): string {
  return `${preset === "oidc" ? "CI" : presets[preset].label} [OIDC]`;
}
