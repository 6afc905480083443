/** A command of the operator, which is not broken at its dashes. */
export function AdminCommand({ children }: Readonly<{ children: string }>) {
  return (
    <code>
      npm run <span className="whitespace-nowrap">admin --</span> {children}
    </code>
  );
}
