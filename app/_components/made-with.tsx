import type { MadeWith as Made } from "#core/access/delegation.ts";

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
