import type { MadeWith as Made } from "#core/access/delegation.ts";

/** Which app or token made something, and whether it still has access. Nothing for what a person made on the pages. */
export function MadeWith({ madeWith, verb = "Created" }: Readonly<{ madeWith: Made | null; verb?: string }>) {
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
      {isEnded && ", whose access has ended"}
    </span>
  );
}
