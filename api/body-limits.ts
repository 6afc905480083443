const KIB = 1024;
const MIB = 1024 * KIB;

export type BodyLimit = {
  /** Null: the route bounds its body itself, by what is being sent. */
  maxBytes: number | null;
  /** The route reads it piece by piece; all others get it whole. */
  isStreamed?: true;
  /** Whose token the route takes. Without one nothing larger than a few fields is read. */
  takesTokenOf?: "anybody" | "platform";
};

const repo = /^\/api\/(models|datasets|spaces)\/[^/]+\/[^/]+/.source;
const transfer = /^\/((models|datasets|spaces)\/)?[^/]+\/[^/]+/.source;

/**
 * How large a body each kind of address takes, the first that fits. Whatever is sent elsewhere is a few fields (S138).
 * Git and Git LFS go by settings of their own (core/hub/git/smart-http, core/hub/lfs).
 */
const limits: readonly [pattern: RegExp, limit: BodyLimit][] = [
  [new RegExp(`${transfer}/git-(upload|receive)-pack$`), { maxBytes: null }],
  [new RegExp(`${transfer}/info/lfs/objects/(batch|[^/]+/(verify|complete))$`), { maxBytes: MIB }],
  [new RegExp(`${transfer}/info/lfs/objects/[^/]+$`), { maxBytes: null }],
  // Files within, as base64: what belongs into Git LFS does not come this way.
  [new RegExp(`${repo}/commit/.+$`), { maxBytes: 512 * MIB, isStreamed: true }],
  // Names of thousands of files, with a sample of each.
  [new RegExp(`${repo}/preupload/.+$`), { maxBytes: 8 * MIB, takesTokenOf: "anybody" }],
  [new RegExp(`${repo}/paths-info/.+$`), { maxBytes: MIB }],
  [new RegExp(`${repo}/discussions(/.*)?$`), { maxBytes: MIB, takesTokenOf: "anybody" }],
  [/^\/api\/validate-yaml$/, { maxBytes: 2 * MIB }],
  // The first files of a new repository.
  [/^\/api\/repos\/create$/, { maxBytes: 16 * MIB, takesTokenOf: "anybody" }],
  // A command with its environment and secrets.
  [/^\/api\/(scheduled-)?jobs\/[^/]+$/, { maxBytes: MIB, takesTokenOf: "anybody" }],
  // An answer of up to 8 MiB, as base64.
  [/^\/api\/settings\/relays\/[^/]+\/requests\/[^/]+\/answer$/, { maxBytes: 12 * MIB, takesTokenOf: "anybody" }],
  // A conversation with pictures in it.
  [/^\/v1\//, { maxBytes: 16 * MIB, takesTokenOf: "anybody" }],
  [/^\/api\/(events|repos\/sync)$/, { maxBytes: 4 * MIB, takesTokenOf: "platform" }],
];

const others: BodyLimit = { maxBytes: 64 * KIB };

/** @param path of the request, as sent. */
export function bodyLimitOf(path: string): BodyLimit {
  return limits.find(([pattern]) => pattern.test(path))?.[1] ?? others;
}
