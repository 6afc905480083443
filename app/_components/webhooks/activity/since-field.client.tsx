"use client";

import { useState } from "react";
import { Field } from "../../fields.client.tsx";
import { useTimeZone } from "../../local-time.client.tsx";

/** The hidden field sends the time in UTC. Without scripts, the time is entered in UTC. */
export function SinceField() {
  const zone = useTimeZone();
  const [at, setAt] = useState("");
  return (
    <>
      <Field
        name="since"
        type="datetime-local"
        label={`Since (${zone})`}
        isOptional
        onChange={({ currentTarget: { valueAsNumber, value } }) =>
          setAt(Number.isNaN(valueAsNumber) ? "" : new Date(value).toISOString())
        }
      />
      <input type="hidden" name="sinceInUtc" value={at} />
    </>
  );
}
