import type { Metadata } from "next";
import { Outcome } from "../code-over.tsx";

export const metadata: Metadata = { title: "Device denied" };

export default function DeniedPage() {
  return (
    <Outcome tone="neutral" title="Device denied">
      <p>The device got no access. You can close this page.</p>
      <p className="text-muted text-small">
        If you did not start this yourself, somebody may have tried to use your account. They got no access. Do not enter codes
        that others send you.
      </p>
    </Outcome>
  );
}
