import { type PresetName, presets } from "./presets.ts";

/** Who a job's commits are from, for want of a person (wire.md 1.12). */
export function publisherName(preset: PresetName): string {
  return `${preset === "oidc" ? "CI" : presets[preset].label} [OIDC]`;
}
