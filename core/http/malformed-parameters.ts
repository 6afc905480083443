/** More parameters than any request here has; what is beyond is a flood. */
const PARAMETERS_MAX = 100;

/**
 * What is wrong with the text of a query or a form, for every door that reads one; undefined when nothing is. Refused is what
 * cannot be stored or would be read differently by two readers: percent-encoding that is no UTF-8, NUL, which Postgres has no
 * room for, and a flood of parameters (S51, S138).
 */
export function malformedParameters(encoded: string): string | undefined {
  if (encoded.split("&", PARAMETERS_MAX + 1).length > PARAMETERS_MAX) {
    return `the request has more than ${PARAMETERS_MAX} parameters`;
  }
  try {
    if (!decodeURIComponent(encoded.replaceAll("+", " ")).includes("\0")) return undefined;
  } catch {
    return "the request is not valid UTF-8";
  }
  return "the request contains a NUL character";
}
