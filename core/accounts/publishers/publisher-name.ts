import { type PresetName, presets } from "./presets.ts";

/** The author of a job's commits, since there is no user (docs/specification/organizations-and-tokens.md#trusted-publishers). */
export function publisherName(preset: PresetName): string {
  return `${preset === "oidc" ? "CI" : presets[preset].label} [OIDC]`;
}
