import type { MadeWith as Made } from "#core/access/delegation.ts";

/** Which app or token created or last changed something, and whether it still has access. Renders nothing for what a person created on the pages. */
export function MadeWith({ madeWith, verb = "Created or last changed" }: Readonly<{ madeWith: Made | null; verb?: string }>) {
  if (!madeWith) return null;
  const { kind, name, clientId, isEnded } = madeWith;
  return (
    <span title={clientId ?? undefined}>
      {verb} {kind === "app" ? "by" : "with"} {name === null ? "a deleted" : "the"} {kind}
      {name !== null && (
        <>
          {" "}
          “<bdi className="wrap-anywhere">{name}</bdi>”
        </>
      )}
      {isEnded && ", which no longer has access"}
    </span>
  );
}
