/** A command of the operator, which is not broken within its dashes. */
export function AdminCommand({ children }: Readonly<{ children: string }>) {
  return (
    <code className="sm:whitespace-nowrap">
      npm run admin <span className="whitespace-nowrap">--</span> {children}
    </code>
  );
}
