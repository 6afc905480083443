import { encode } from "uqr";

export type QrCodeProps = Readonly<{ value: string /** What it is, for those who cannot see it. */; label: string }>;

// ISO/IEC 18004 asks for a quiet zone of four modules.
const QUIET_MODULES = 4;

/** A QR code as one path, black on white in either theme, since readers ask for that. Drawn here: what it holds goes nowhere else. */
export function QrCode({ value, label }: QrCodeProps) {
  const { data, size } = encode(value, { ecc: "M", border: QUIET_MODULES });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-56 max-w-full rounded-control border border-line bg-white"
    >
      <path d={dark.join("")} fill="#000" />
    </svg>
  );
}
