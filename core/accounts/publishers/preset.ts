/** Compared as text: numbers and booleans in JSON form. */
export type Claims = Readonly<Record<string, string>>;

export type PresetField = Readonly<{
  name: string;
  label: string;
  hint: string;
  placeholder: string;
  isRequired?: true;
  shape: RegExp;
  problem: string;
}>;

export type Preset = Readonly<{
  /** `<label> [OIDC]` is the author of its commits. */
  label: string;
  fields: readonly PresetField[];
  read(values: Readonly<Record<string, string | undefined>>): { issuer: string; claims: Claims };
  /** Claims that never name two repositories or owners, even after renaming or recreation (S100). */
  immutable: readonly string[];
  run: readonly string[];
}>;
