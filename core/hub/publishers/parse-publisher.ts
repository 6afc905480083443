import { plainText } from "../../accounts/plain-text.ts";
import { type Claims, isPresetName, type PresetName, presets } from "../../accounts/publishers/presets.ts";
import { ServiceError } from "../../errors.ts";

export type NewPublisher = {
  preset: string;
  /** What was filled in of the preset's fields, by their names. */
  values: Readonly<Record<string, unknown>>;
};

const ISSUER_MAX_CHARACTERS = 500;

/** @throws ServiceError `invalid_request` with the preset's field */
export function parsePublisher({ preset, values }: NewPublisher): { preset: PresetName; issuer: string; claims: Claims } {
  if (!isPresetName(preset)) throw new ServiceError("invalid_request", "Choose where the jobs run.", { field: "preset" });
  const { fields, read } = presets[preset];
  const filled: Record<string, string> = {};
  for (const { name, isRequired, shape, problem } of fields) {
    const value = plainText(name, values[name] ?? "", 4_000).trim();
    if (value === "") {
      if (isRequired) throw new ServiceError("invalid_request", "Fill this in.", { field: name });
      continue;
    }
    if (!shape.test(value) || !value.isWellFormed()) throw new ServiceError("invalid_request", problem, { field: name });
    filled[name] = value;
  }
  const { issuer, claims } = read(filled);
  if (issuer.length > ISSUER_MAX_CHARACTERS || !URL.canParse(issuer)) {
    throw new ServiceError("invalid_request", "This is no address.", { field: issuerFieldOf(preset) });
  }
  return { preset, issuer, claims };
}

/** The field in which somebody gave the issuer's address themselves; undefined where the preset knows it. */
export function issuerFieldOf(preset: PresetName): "issuer" | "gitlabUrl" | undefined {
  if (preset === "oidc") return "issuer";
  return preset === "gitlab" ? "gitlabUrl" : undefined;
}
