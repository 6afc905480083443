import Link from "next/link";

/** Under the card: what connecting a device means, and how others abuse it. */
export function AboutDevices() {
  return (
    <Link prefetch={false} href="/docs/consent#devices" target="_blank" className="link">
      What does this mean?
    </Link>
  );
}
