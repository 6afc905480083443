export type Finding = {
  check: string;
  status: "ok" | "warn" | "fail";
  found: string;
  advice?: string;
};

export function findings(check: string) {
  return {
    ok: (found: string): Finding => ({ check, status: "ok", found }),
    warn: (found: string, advice: string): Finding => ({ check, status: "warn", found, advice }),
    fail: (found: string, advice: string): Finding => ({ check, status: "fail", found, advice }),
  };
}

export function reason(error: unknown): string {
  const text = error instanceof Error ? error.message || (error as NodeJS.ErrnoException).code || error.name : String(error);
  return text.trim().split("\n")[0] ?? "";
}
