/** Exit status of a child that cannot start with its configuration (EX_CONFIG of sysexits.h): the supervisor then exits with it. */
export const CANNOT_START = 78;
