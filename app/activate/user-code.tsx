/** A code to compare with the one on a device, drawn as it is entered: two boxes of four. */
export function UserCode({ userCode }: Readonly<{ userCode: string }>) {
  const [first, second] = userCode.split("-");
  return (
    <p className="user-code" translate="no">
      <span>{first}</span>
      <span className="sr-only">-</span>
      <span>{second}</span>
    </p>
  );
}
