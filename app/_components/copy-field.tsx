import { CopyButton } from "./copy-button.client.tsx";

export type CopyFieldProps = Readonly<{
  label: string;
  value: string;
}>;

/** A value that people carry elsewhere (an id, an address), with its name above and a copy button at its end. */
export function CopyField({ label, value }: CopyFieldProps) {
  return (
    <div className="grid gap-1">
      <span className="text-muted text-small">{label}</span>
      <div className="flex min-h-10 items-center gap-1 rounded-control border border-line bg-sunken py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 select-all break-all">{value}</code>
        <CopyButton value={value} label={label} />
      </div>
    </div>
  );
}
