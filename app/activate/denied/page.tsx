import type { Metadata } from "next";
import { Outcome } from "../code-over.tsx";

export const metadata: Metadata = { title: "Access denied" };

export default function DeniedPage() {
  return (
    <Outcome tone="neutral" title="Access denied">
      <p>The device was not given access to your account. You can close this page.</p>
      <p className="text-muted text-small">
        If you did not start this yourself, someone may have tried to get into your account. Never enter codes that others send
        you.
      </p>
    </Outcome>
  );
}
