/** Required claims by name: text compared with a string, or with a number or boolean in JSON form. */
export type Claims = Readonly<Record<string, string>>;

export type PresetField = Readonly<{
  /** Unique across all presets: forms use it unchanged. */
  name: string;
  label: string;
  hint: string;
  placeholder: string;
  isRequired?: true;
  /** The values that the provider accepts; for others, `problem` is shown beside the field. */
  shape: RegExp;
  problem: string;
}>;

/** A CI provider: the fields of its form, in the provider's terms, and the claims of its tokens that these fields stand for. */
export type Preset = Readonly<{
  /** The provider's usual name; `<label> [OIDC]` is the author of its commits. */
  label: string;
  fields: readonly PresetField[];
  /** @param values of the completed fields */
  read(values: Readonly<Record<string, string | undefined>>): { issuer: string; claims: Claims };
  /** Claims that never name two repositories or owners, even after renaming or recreation (S100). */
  immutable: readonly string[];
  /** Claims that identify the run, for logs. */
  run: readonly string[];
}>;
