export function InlineCode({ text }: Readonly<{ text: string }>) {
  return text.split("`").map((part, at) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other names, and never change
    at % 2 ? <code key={at}>{part}</code> : part,
  );
}
