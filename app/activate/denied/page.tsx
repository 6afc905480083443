import type { Metadata } from "next";
import { Outcome } from "../outcome.tsx";

export const metadata: Metadata = { title: "The device was refused" };

export default function DeniedPage() {
  return (
    <Outcome tone="neutral" title="The device was refused">
      <p>It learns only that you refused. You can close this page.</p>
      <p className="text-muted text-small">
        If you did not start this yourself, somebody may have tried to get in with your account. They got nothing. Do not enter
        codes that others send you.
      </p>
    </Outcome>
  );
}
