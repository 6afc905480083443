/** Values are compared as text. Numbers and booleans have their JSON form. */
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
  /** The author of the job's commits is `<label> [OIDC]`. */
  label: string;
  fields: readonly PresetField[];
  read(values: Readonly<Record<string, string | undefined>>): { issuer: string; claims: Claims };
  /** The claims whose values the issuer never gives to another repository or owner (S100). */
  immutable: readonly string[];
  run: readonly string[];
}>;
