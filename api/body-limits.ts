const KIB = 1024;
const MIB = 1024 * KIB;

export type BodyLimit = {
  /** Null: the route limits its body itself, by its content. */
  maxBytes: number | null;
  /** The route reads it piece by piece; all others get it whole. */
  isStreamed?: true;
  /** Whose token the route accepts. Without one nothing larger than a few fields is read. */
  takesTokenOf?: "anybody" | "platform";
};

const repo = /^\/api\/(models|datasets|spaces)\/[^/]+\/[^/]+/.source;
const transfer = /^\/((models|datasets|spaces)\/)?[^/]+\/[^/]+/.source;

/**
 * The largest body for each kind of URL; the first match applies. Everything else is a few fields (S138). Git and Git LFS have their own
 * settings (core/hub/git/smart-http, core/hub/lfs).
 */
const limits: readonly [pattern: RegExp, limit: BodyLimit][] = [
  [new RegExp(`${transfer}/git-(upload|receive)-pack$`), { maxBytes: null }],
  [new RegExp(`${transfer}/info/lfs/objects/(batch|[^/]+/(verify|complete))$`), { maxBytes: MIB }],
  [new RegExp(`${transfer}/info/lfs/objects/[^/]+$`), { maxBytes: null }],
  // Includes files, as base64: files for Git LFS are not sent here.
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
  // A response of up to 8 MiB, as base64.
  [/^\/api\/settings\/relays\/[^/]+\/requests\/[^/]+\/answer$/, { maxBytes: 12 * MIB, takesTokenOf: "anybody" }],
  // A conversation with pictures.
  [/^\/v1\//, { maxBytes: 16 * MIB, takesTokenOf: "anybody" }],
  [/^\/api\/(events|repos\/sync)$/, { maxBytes: 4 * MIB, takesTokenOf: "platform" }],
];

const others: BodyLimit = { maxBytes: 64 * KIB };

/** @param path of the request, as sent. */
export function bodyLimitOf(path: string): BodyLimit {
  return limits.find(([pattern]) => pattern.test(path))?.[1] ?? others;
}
