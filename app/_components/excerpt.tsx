export type ExcerptParts = ReadonlyArray<Readonly<{ text: string; isMatch: boolean }>>;

export function Excerpt({ of }: Readonly<{ of: ExcerptParts }>) {
  return (
    <span className="wrap-anywhere block max-w-reading">
      {of.map(({ text, isMatch }, index) =>
        isMatch ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text
          <mark key={index} className="bg-transparent font-medium text-ink">
            {text}
          </mark>
        ) : (
          text
        ),
      )}
    </span>
  );
}
